"""BM25 over fields: how well passages answer a query, given what the caller may see.

Every number is counted over the passages the caller sees, so that a hidden one tells nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

K1: Final = 1.2
B: Final = 0.75
"""Saturation and length normalisation.  Source: specification, section 9."""

FIELD_WEIGHTS: Final = (1.0,)
"""The body alone, for now.  Source: architecture, section 6."""

Scores: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TermList:
    """Where a term of the query stands.

    Args:
        places: places in the corpus, each once.
        counts: of shape (places, fields).
    """

    places: Places
    counts: npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Corpus:
    """The passages of a scope, as far as a query has to know them.

    Args:
        rids: each passage's episode row; those of one row stand together, in their order.
        lengths: of shape (passages, fields).
        seen: which of them the caller may see.
        lists: where the query's terms stand, in their order.
        occurred: when each one's episode occurred; None if nobody asked.
    """

    rids: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.uint32]
    seen: Mask
    lists: Sequence[TermList]
    occurred: npt.NDArray[np.int64] | None = None

    def place_in_episode(self, place: int) -> tuple[int, int]:
        """Return a passage's episode row and its number there, from 1."""
        rid = first = int(self.rids[place])
        first = place
        while first and self.rids[first - 1] == rid:
            first -= 1
        return rid, place - first + 1


def inverse_document_frequency(matches: int, *, passages: int) -> float:
    """Return the weight of a term that stands in so many of the visible passages; above 0."""
    return math.log(1.0 + (passages - matches + 0.5) / (matches + 0.5)) if passages else 0.0


def keyword_scores(corpus: Corpus) -> Scores:
    """Return BM25's score of each passage: 0 for one that is hidden or holds no term."""
    scores = np.zeros(len(corpus.rids))
    passages = int(np.count_nonzero(corpus.seen))
    if not passages:
        return scores
    totals = corpus.lengths[corpus.seen].sum(axis=0, dtype=np.float64)
    norms = 1.0 - B + B * corpus.lengths / np.maximum(totals / passages, 1e-9)
    weights = np.array(FIELD_WEIGHTS)
    for held in corpus.lists:
        visible = corpus.seen[held.places]
        places = held.places[visible]
        idf = inverse_document_frequency(len(places), passages=passages)
        frequency = (held.counts[visible] / norms[places]) @ weights
        scores[places] += idf * (K1 + 1.0) * frequency / (frequency + K1)
    return scores


def best_places(corpus: Corpus, scores: Scores, *, among: Mask | None, k: int) -> Places:
    """Return the places of the k best scores above 0; equals by time of landing, newest first.

    Args:
        among: which passages are looked among; None looks among all.
    """
    found = _found(scores, among)
    found = _cut(found, scores[found], k)
    return found[np.lexsort((found, -corpus.rids[found], -scores[found]))][:k]


def timed_places(
    corpus: Corpus, scores: Scores, *, among: Mask | None, k: int, newest: bool
) -> Places:
    """Return the places of the k newest or oldest passages whose score is above 0."""
    assert corpus.occurred is not None, "the corpus was read without times"  # noqa: S101 -- a caller's fault
    found = _found(scores, among)
    sign = -1 if newest else 1
    times, rids = sign * corpus.occurred[found], sign * corpus.rids[found]
    return found[np.lexsort((found, rids, times))][:k]


def _found(scores: Scores, among: Mask | None) -> Places:
    return np.flatnonzero(scores > 0 if among is None else (scores > 0) & among)


def _cut(found: Places, scores: Scores, k: int) -> Places:
    """Drop what cannot be among the k best, and no equal of the last of them."""
    if len(found) <= k:
        return found
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    cut: Places = found[scores >= least]
    return cut
