"""Finds passages by keyword: candidates from the index, ranked by BM25 over what is visible."""

import re
from dataclasses import dataclass, field
from typing import Final, Literal

import psycopg

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import BadRequest
from memory.domain.analyzer import query_terms
from memory.domain.ids import EpisodeId
from memory.domain.limits import MAX_K
from memory.domain.postings import frequencies
from memory.domain.ranking import bm25
from memory.domain.read_context import ReadContext
from memory.engine import Engine
from memory.search.episodes import EpisodeFilters
from memory.search.keyword import (
    CANDIDATE_CAP,
    Candidate,
    FoundPassage,
    Statistics,
    find_candidates,
    read_passages,
    read_statistics,
)
from memory.services.access import open_scope

_NO_TEXT: Final = re.compile(r"[\x00\ud800-\udfff]")
MAX_QUERY: Final = 20_000
"""Characters of a query: beyond the longest question; more is a document, which one ingests."""

Order = Literal["relevance", "newest", "oldest"]
_TIME_ORDERS: Final = {"newest": "DESC", "oldest": "ASC"}


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """What is looked for.

    Args:
        text: free text in any language; every word is optional, the more match the better.
        k: how many passages at most, 1 to 200.
        order: by relevance, or by when what matches occurred.
        filters: which episodes are looked in.
    """

    text: str
    k: int = 10
    order: Order = "relevance"
    filters: EpisodeFilters = field(default_factory=EpisodeFilters)


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage that matches.

    Args:
        label: its units as citations name them: `t3` or `t3-t9`.
        score: 0 to 1, of the best candidate's keyword score.
    """

    episode_id: EpisodeId
    source: str
    episode_type: str
    document: str | None
    occurred_at: Micros
    first_unit: int
    last_unit: int
    label: str
    text: str
    score: float


def find_passages(
    engine: Engine, caller: Caller, scope: Scope, query: PassageQuery
) -> tuple[PassageHit, ...]:
    """Return the passages the caller may see that match best, best first.

    Equal scores are told apart by time of landing, newest first, then by place in the episode.

    Raises:
        BadRequest: a field of the query is out of range.
    """
    _check(query)
    terms = query_terms(query.text)
    with engine.index.reading() as cursor:
        context = open_scope(engine, cursor, caller, scope)
        if context.scope_id is None or not terms:
            return ()
        statistics = read_statistics(cursor, context, terms)
        ranked = _rank(cursor, context, query, terms, statistics)
        found = read_passages(cursor, context, [place for place, _ in ranked])
    return tuple(_hit(engine, found[place], score) for place, score in ranked)


def _check(query: PassageQuery) -> None:
    if not query.text.strip():
        message = "`query` must not be empty."
        raise BadRequest(message, field="query")
    if _NO_TEXT.search(query.text):
        message = "`query` must not hold the character U+0000 or half of a surrogate pair."
        raise BadRequest(message, field="query")
    if len(query.text) > MAX_QUERY:
        message = f"`query` must be at most {MAX_QUERY} characters."
        raise BadRequest(message, field="query")
    if not 1 <= query.k <= MAX_K:
        message = f"`k` must be from 1 to {MAX_K}."
        raise BadRequest(message, field="k")


def _rank(
    cursor: psycopg.Cursor,
    context: ReadContext,
    query: PassageQuery,
    terms: tuple[str, ...],
    statistics: Statistics,
) -> list[tuple[tuple[int, int], float]]:
    """Return the (rid, n) of the k best candidates with their scores, in the asked order."""
    by_time = _TIME_ORDERS.get(query.order)
    candidates = find_candidates(
        cursor,
        context,
        terms,
        statistics,
        filters=query.filters,
        by_time=by_time,
        limit=CANDIDATE_CAP if by_time is None else query.k,
    )
    if not candidates:
        return []
    scores = _scores(candidates, terms, statistics)
    best = max(scores) or 1.0
    pairs = [
        ((candidate.rid, candidate.n), score / best)
        for candidate, score in zip(candidates, scores, strict=True)
    ]
    if by_time is None:
        pairs.sort(key=lambda pair: (-pair[1], -pair[0][0], pair[0][1]))
    return pairs[: query.k]


def _scores(
    candidates: tuple[Candidate, ...], terms: tuple[str, ...], statistics: Statistics
) -> list[float]:
    counts, lengths = frequencies([candidate.terms for candidate in candidates], terms)
    return bm25(
        counts,
        lengths,
        passages=statistics.passages,
        mean_lengths=(statistics.mean_length,),
        document_frequencies=statistics.frequencies,
    )


def _hit(engine: Engine, found: FoundPassage, score: float) -> PassageHit:
    letter = engine.types.named(found.episode_type).letter
    label = f"{letter}{found.first_unit}"
    if found.last_unit != found.first_unit:
        label += f"-{letter}{found.last_unit}"
    return PassageHit(
        episode_id=found.episode_id,
        source=found.source,
        episode_type=found.episode_type,
        document=found.document,
        occurred_at=found.occurred_at,
        first_unit=found.first_unit,
        last_unit=found.last_unit,
        label=label,
        text=found.text,
        score=round(score, 6),
    )
