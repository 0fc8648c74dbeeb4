"""BM25 over fields and neighbours: how well passages answer a query, given what the caller sees.

Every number is counted over the passages the caller sees, so that a hidden one tells nothing.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from memory.domain.neighbours import Neighbours
from memory.domain.weights import (
    ASSISTANT_FACTOR,
    FIELD_NAMES,
    FIELD_WEIGHTS,
    K1,
    NEIGHBOUR_WEIGHT,
    B,
)

Scores: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]

_NOWHERE: Final = np.zeros(0, np.int64)
_COVERING: Final = 3
"""Of so many of the best passages the one that holds most of the query says how much is covered."""


@dataclass(frozen=True, slots=True)
class TermList:
    """Where a term of the query stands.

    Args:
        places: places in the corpus, each once.
        counts: of shape (places, fields).
        weight: what the term counts for beside its rarity; one of 1 is looked for in neighbours.
    """

    places: Places
    counts: npt.NDArray[np.uint8]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Corpus:
    """The passages of a scope, as far as a query has to know them.

    Args:
        rids: each passage's episode row; those of one row stand together, in their order.
        lengths: of shape (passages, fields).
        seen: which of them the caller may see.
        lists: where the query's terms stand, in their order; terms that stand nowhere have none.
        missing: the weights of the terms that stand nowhere, added up.
        occurred: when each one's episode occurred.
        assistant: which are said by an assistant.
        neighbours: which stand before and after one another, of those that are seen.
    """

    rids: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.uint32]
    seen: Mask
    lists: Sequence[TermList]
    missing: float
    occurred: npt.NDArray[np.int64]
    assistant: Mask
    neighbours: Neighbours

    def place_in_episode(self, place: int) -> tuple[int, int]:
        """Return a passage's episode row and its number there, from 1."""
        rid = int(self.rids[place])
        first = place
        while first and self.rids[first - 1] == rid:
            first -= 1
        return rid, place - first + 1

    def places_of(self, passages: Collection[tuple[int, int]]) -> dict[tuple[int, int], int]:
        """Return where passages stand, each named by row and number; those not seen have none."""
        rows = np.array([rid for rid, _ in passages], np.int64)
        places: dict[tuple[int, int], int] = {}
        before, n = None, 0
        for place in np.flatnonzero(np.isin(self.rids, rows)).tolist():
            rid = int(self.rids[place])
            n = n + 1 if rid == before else 1
            before = rid
            if (rid, n) in passages and self.seen[place]:
                places[rid, n] = place
        return places

    def fields_matched(self, places: Places) -> list[tuple[str, ...]]:
        """Return for each of some passages which fields hold a term of the query."""
        columns = [
            np.concatenate(
                [term.places[term.counts[:, field] > 0] for term in self.lists] or [_NOWHERE]
            )
            for field in range(self.lengths.shape[1])
        ]
        held = [np.isin(places, column).tolist() for column in columns]
        return [
            tuple(name for name, holds in zip(FIELD_NAMES, row, strict=False) if holds)
            for row in zip(*held, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Keyword:
    """How well passages match by keyword.

    Args:
        scores: of each passage; 0 for one that is hidden or near no term.
        coverage: how much of the query's weight one of the best passages itself holds, 0 to 1;
            terms that stand nowhere count at their rarest.
    """

    scores: Scores
    coverage: float


def inverse_document_frequency(matches: int, *, passages: int) -> float:
    """Return the weight of a term that stands in so many of the visible passages; above 0."""
    return math.log(1.0 + (passages - matches + 0.5) / (matches + 0.5)) if passages else 0.0


def keyword_scores(corpus: Corpus) -> Keyword:
    """Return BM25F's scores of all passages."""
    scores = np.zeros(len(corpus.rids))
    passages = int(np.count_nonzero(corpus.seen))
    if not passages:
        return Keyword(scores, 0.0)
    fields = _weights_by_length(corpus)
    around = _norms_around(corpus)
    asked = [corpus.missing * inverse_document_frequency(0, passages=passages)]
    for term in corpus.lists:
        places, counts = term.places, term.counts
        if passages < len(scores):
            visible = corpus.seen[places]
            places, counts = places[visible], counts[visible]
        idf = term.weight * inverse_document_frequency(len(places), passages=passages)
        asked.append(idf)
        if not len(places):
            continue
        frequency = _frequency(counts, places, fields)
        everywhere = None
        if around is not None and term.weight == 1.0:
            everywhere = corpus.neighbours.spread(places, counts[:, 0].astype(np.float64))
        if everywhere is None or around is None:
            scores[places] += idf * _saturated(frequency)
            continue
        everywhere *= NEIGHBOUR_WEIGHT / around
        everywhere[places] += frequency
        scores += idf * _saturated(everywhere)
    scores[corpus.assistant] *= ASSISTANT_FACTOR
    return Keyword(scores, _coverage(corpus, scores, asked))


def places_holding(corpus: Corpus) -> Mask:
    """Return which passages themselves hold a term of the query, seen or not."""
    holding = np.zeros(len(corpus.rids), bool)
    for term in corpus.lists:
        holding[term.places] = True
    return holding


def _coverage(corpus: Corpus, scores: Scores, asked: Sequence[float]) -> float:
    """Return how much of what was asked the best passages hold.

    Args:
        asked: first the weight of what stands nowhere, then that of each list.
    """
    count = min(_COVERING, len(scores))
    best = np.argpartition(scores, -count)[-count:]
    held = [
        sum(idf for term, idf in zip(corpus.lists, asked[1:], strict=True) if place in term.places)
        # The score of a hidden one is 0, and what it holds is nobody's business.
        for place in best[scores[best] > 0]
    ]
    return max(held, default=0.0) / max(sum(asked), 1e-9)


def _weights_by_length(corpus: Corpus) -> list[Scores]:
    """Return for each field what one occurrence counts for in each passage."""
    means = corpus.lengths[corpus.seen].mean(axis=0, dtype=np.float64).tolist()
    return [
        weight / _norms(corpus.lengths[:, field], mean)
        for field, (weight, mean) in enumerate(zip(FIELD_WEIGHTS, means, strict=False))
    ]


def _frequency(counts: npt.NDArray[np.uint8], places: Places, fields: Sequence[Scores]) -> Scores:
    """Return how often a term stands in passages, by the weights of their fields."""
    frequency = counts[:, 0] * fields[0][places]
    for field in range(1, len(fields)):
        some = np.flatnonzero(counts[:, field])
        frequency[some] += counts[some, field] * fields[field][places[some]]
    return frequency


def _saturated(frequency: Scores) -> Scores:
    return (K1 + 1.0) * frequency / (frequency + K1)


def _norms(lengths: npt.NDArray[np.uint32] | Scores, mean: Scores | float) -> Scores:
    norms: Scores = 1.0 - B + B * lengths / np.maximum(mean, 1e-9)
    return norms


def _norms_around(corpus: Corpus) -> Scores | None:
    """Return what each passage's neighbours together are to the mean; None if none has any."""
    near = corpus.neighbours
    places = near.order
    around = near.spread(places, corpus.lengths[places, 0].astype(np.float64))
    if around is None:
        return None
    return _norms(around, float(around[places].mean()) if len(places) else 0.0)


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
