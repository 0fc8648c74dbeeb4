"""Ranks a scope's passages for a query: keyword over all, meaning over the nearest, both fused."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import psycopg

from memory.domain.fusion import fuse, keyword_alone
from memory.domain.ranking import (
    Corpus,
    Mask,
    Places,
    best_places,
    keyword_scores,
    places_holding,
    timed_places,
)
from memory.domain.read_context import ReadContext
from memory.domain.weights import CANDIDATES, EXACT_BELOW, WINDOW_SHARE
from memory.domain.windows import Window
from memory.search.nearest import (
    Cosines,
    QueryVector,
    cosines_of,
    nearest_by_graph,
    nearest_exactly,
)
from memory.search.segments import read_corpus

Embedded = Callable[[], QueryVector | None]
"""Waits for the query's vector, which is computed meanwhile; None where meaning has no vote."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage in its order.

    Args:
        rid, n: the passage's episode row and its number there.
        score: 0 to 1.
        keyword, meaning: the parts of the score; None where meaning had no vote.
        fields: which of the passage's hold a term of the query; none if only its neighbours do.
    """

    rid: int
    n: int
    score: float
    keyword: float
    meaning: float | None
    fields: tuple[str, ...]


def rank(
    cursor: psycopg.Cursor,
    context: ReadContext,
    terms: tuple[str, ...],
    embedded: Embedded,
    *,
    among: Callable[[Corpus], Mask | None],
    k: int,
    window: Window | None = None,
) -> list[Ranked]:
    """Return the k best passages, best first; equals by time of landing, newest first.

    Args:
        among: says which passages are looked among; None for all.
        window: what occurred in it comes first, if it answers nearly as well.
    """
    corpus = read_corpus(cursor, context, terms)
    mask = among(corpus)
    keyword = keyword_scores(corpus)
    found = best_places(corpus, keyword.scores, among=mask, k=max(k, CANDIDATES))
    inside = None if window is None else _inside(corpus, window)
    if inside is not None:
        inside = inside if mask is None else inside & mask
        named = best_places(corpus, keyword.scores, among=inside, k=max(k, CANDIDATES))
        found = np.union1d(found, named)
    query = embedded()
    if query is None:
        fused = keyword_alone(keyword, found)
    else:
        near = _nearest(cursor, context, corpus, query, mask)
        if inside is not None and np.count_nonzero(inside & corpus.seen) <= EXACT_BELOW:
            near |= _nearest(cursor, context, corpus, query, inside)
        found, cosines = _with_nearest(cursor, context, corpus, query, found, near, mask)
        fused = fuse(keyword, found, cosines)
    first = np.zeros(len(found), bool)
    if inside is not None:
        good = fused.totals >= WINDOW_SHARE * fused.totals.max(initial=0.0)
        first = good & inside[found]
    order = np.lexsort((found, -corpus.rids[found], -fused.totals, ~first))[:k]
    order = order[fused.totals[order] > 0]
    return [
        Ranked(
            *corpus.place_in_episode(int(found[at])),
            score=float(fused.totals[at]),
            keyword=float(fused.keyword[at]),
            meaning=None if np.isnan(fused.meaning[at]) else float(fused.meaning[at]),
            fields=fields,
        )
        for at, fields in zip(order.tolist(), corpus.fields_matched(found[order]), strict=True)
    ]


def rank_by_time(
    cursor: psycopg.Cursor,
    context: ReadContext,
    terms: tuple[str, ...],
    *,
    among: Callable[[Corpus], Mask | None],
    k: int,
    newest: bool,
) -> list[Ranked]:
    """Return the k newest or oldest of the passages that hold a term of the query."""
    corpus = read_corpus(cursor, context, terms)
    mask = among(corpus)
    keyword = keyword_scores(corpus)
    matching = np.where(places_holding(corpus), keyword.scores, 0.0)
    found = timed_places(corpus, matching, among=mask, k=k, newest=newest)
    best = float((matching if mask is None else matching[mask]).max(initial=0.0)) or 1.0
    shares = matching[found] / best
    return [
        Ranked(*corpus.place_in_episode(place), share, share, None, fields)
        for place, share, fields in zip(
            found.tolist(), shares.tolist(), corpus.fields_matched(found), strict=True
        )
    ]


def _inside(corpus: Corpus, window: Window) -> Mask:
    return (corpus.occurred >= window.start) & (corpus.occurred < window.end)


def _nearest(
    cursor: psycopg.Cursor,
    context: ReadContext,
    corpus: Corpus,
    query: QueryVector,
    mask: Mask | None,
) -> Cosines:
    """Return the nearest passages; our own count of what is visible says how they are found."""
    among = corpus.seen if mask is None else corpus.seen & mask
    if mask is not None and np.count_nonzero(among) <= EXACT_BELOW:
        rids = np.unique(corpus.rids[among]).tolist()
        return nearest_exactly(cursor, context, query, limit=CANDIDATES, rids=rids) if rids else {}
    if np.count_nonzero(among) <= EXACT_BELOW:
        return nearest_exactly(cursor, context, query, limit=CANDIDATES)
    near = nearest_by_graph(cursor, context, query, limit=CANDIDATES)
    if len(near) < CANDIDATES // 2:
        # The graph lost its way among rows that the caller may not see.
        return nearest_exactly(cursor, context, query, limit=CANDIDATES)
    return near


def _with_nearest(
    cursor: psycopg.Cursor,
    context: ReadContext,
    corpus: Corpus,
    query: QueryVector,
    found: Places,
    near: Cosines,
    mask: Mask | None,
) -> tuple[Places, npt.NDArray[np.float64]]:
    """Return the candidates of keyword and of meaning, and the cosine of each."""
    held = {corpus.place_in_episode(place): place for place in found.tolist()}
    known = dict(near)
    unknown = [passage for passage in held if passage not in known]
    known |= cosines_of(cursor, context, query, unknown) if unknown else {}
    for passage, place in corpus.places_of(near).items():
        if mask is None or mask[place]:
            held.setdefault(passage, place)
    cosines = [known.get(passage, np.nan) for passage in held]
    return np.array(list(held.values()), np.int64), np.array(cosines)
