"""Embedders of the tests: what a text means is which of a few ideas its words name."""

from collections.abc import Sequence

import numpy as np

from memory.embedding.embedder import Pieces

_IDEAS = (
    {"money", "budget", "dollars", "spend", "price"},
    {"dog", "puppy", "pet", "kennel"},
    {"travel", "flight", "journey", "airport"},
    {"rain", "weather", "storm", "cloud"},
)
WIDTH = len(_IDEAS) + 1


class Ideas:
    """Gives a text a vector of the ideas that it names."""

    fingerprint = "ideas-1"
    width = WIDTH
    scripts: frozenset[str] | None = frozenset({"Latin"})

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Pieces]:
        self.asked += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Pieces:
        words = set(text.lower().replace(".", " ").replace("?", " ").split())
        named = [float(len(words & idea)) for idea in _IDEAS]
        values = np.array([[*named, 0.1]], np.float32)
        return values / np.linalg.norm(values)
