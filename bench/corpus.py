"""The bench corpus: seeded texts of an invented vocabulary, ACL sets and drawn vectors.

Everything is a function of a seed and a place, so two machines measure the same bytes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

SEED: Final = 20_261_201
VOCABULARY: Final = 40_000
NOTE_BYTES: Final = (420, 440)
"""A realistic note's body."""

PASSAGE_BYTES: Final = (1_200, 1_500)
GROUPS: Final = 400
VECTOR_WIDTH: Final = 384
EMBEDDER: Final = "bench-drawn-384"
BIGGEST_SHARE: Final = 0.8

_ONSETS_TEXT: Final = "b br c ch d dr f fl g gr h j k l m n p pl pr qu r s sh sk st t tr v w z"
_ONSETS: Final = _ONSETS_TEXT.split()
_VOWELS: Final = ["a", "e", "i", "o", "u", "ai", "ea", "io", "ou"]
_CODAS: Final = ["", "", "", "n", "r", "s", "t", "l", "m", "ng", "rd", "st", "x"]
_ENDINGS: Final = ["", "", "", "", "s", "ed", "ing", "er", "ly", "ness", "ation"]


@dataclass(frozen=True, slots=True)
class CorpusShape:
    """How much of everything; scope 0 holds `BIGGEST_SHARE` of the passages."""

    passages: int
    acl_sets: int
    scopes: int


FULL: Final = CorpusShape(passages=100_000, acl_sets=3_000, scopes=20)
SMALL: Final = CorpusShape(passages=2_000, acl_sets=60, scopes=20)


@cache
def invent_words(count: int = VOCABULARY, *, seed: int = SEED) -> tuple[str, ...]:
    """Return distinct invented words, the frequent ones first and shorter."""
    rng = np.random.Generator(np.random.PCG64(seed))
    words: dict[str, None] = {}
    while len(words) < count:
        syllables = 1 + min(3, int(4 * len(words) / count) + int(rng.random() < 0.4))
        word = "".join(
            _pick(rng, _ONSETS) + _pick(rng, _VOWELS) + _pick(rng, _CODAS) for _ in range(syllables)
        )
        words.setdefault(word + _pick(rng, _ENDINGS), None)
    return tuple(words)


def _pick(rng: np.random.Generator, choices: Sequence[str]) -> str:
    return choices[int(rng.random() * len(choices))]


class TextSource:
    """Draws texts of Zipf-distributed words; each stream is a seed of its own."""

    def __init__(self, *, stream: int, seed: int = SEED) -> None:
        self._rng = np.random.Generator(np.random.PCG64([seed, stream]))
        self._words = np.array(invent_words(seed=seed), dtype=object)
        weights = 1.0 / np.power(np.arange(VOCABULARY) + 2.7, 1.05)
        self._steps: NDArray[np.float64] = np.cumsum(weights) / weights.sum()

    def texts(self, count: int, size: tuple[int, int]) -> list[str]:
        """Return texts whose length in bytes is within `size`, both ends included."""
        return list(self.iter_texts(count, size))

    def iter_texts(self, count: int, size: tuple[int, int]) -> Iterator[str]:
        """Yield texts like `texts`; sentences of words, ASCII, one paragraph each."""
        low, high = size
        words: list[str] = []
        at = 0
        for _ in range(count):
            target = low + int(self._rng.random() * (high - low + 1))
            parts: list[str] = []
            length = 0
            while length < target:
                if at == len(words):
                    words, at = self._draw(), 0
                parts.append(words[at])
                length += len(words[at]) + 1
                at += 1
            yield _fit(" ".join(parts), target)

    def _draw(self) -> list[str]:
        places = np.searchsorted(self._steps, self._rng.random(100_000))
        drawn: list[str] = self._words[places].tolist()
        ends = np.flatnonzero(self._rng.random(100_000) < 0.08)
        for place in ends.tolist():
            drawn[place] += "."
            if place + 1 < len(drawn):
                drawn[place + 1] = drawn[place + 1].capitalize()
        return drawn


def _fit(text: str, size: int) -> str:
    """Cut at `size`, and leave no blank at the end for anyone to strip."""
    cut = text[:size].rstrip()
    return cut + "x" * (size - len(cut))


def draw_acls(count: int, *, seed: int = SEED) -> tuple[tuple[str, ...], ...]:
    """Return distinct ACLs of one to six groups each, sorted."""
    rng = np.random.Generator(np.random.PCG64([seed, 1]))
    acls: dict[tuple[str, ...], None] = {}
    while len(acls) < count:
        size = 1 + int(rng.random() * 6)
        groups = {f"group:g{int(rng.random() * GROUPS):03d}" for _ in range(size)}
        acls.setdefault(tuple(sorted(groups)), None)
    return tuple(acls)


def place_in_scopes(shape: CorpusShape) -> tuple[int, ...]:
    """Return how many passages each scope holds: most in the first, the rest spread evenly."""
    first = int(shape.passages * BIGGEST_SHARE)
    share, left = divmod(shape.passages - first, shape.scopes - 1)
    return (first, *(share + (place < left) for place in range(shape.scopes - 1)))


def draw_vectors(count: int, *, stream: int) -> NDArray[np.float32]:
    """Return unit vectors around a few hundred centres, as embeddings cluster."""
    centres = np.random.Generator(np.random.PCG64([SEED, 2])).standard_normal((300, VECTOR_WIDTH))
    rng = np.random.Generator(np.random.PCG64([SEED, 3, stream]))
    chosen = (rng.random(count) * len(centres)).astype(np.int64)
    vectors = centres[chosen] + 0.8 * rng.standard_normal((count, VECTOR_WIDTH))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32)
