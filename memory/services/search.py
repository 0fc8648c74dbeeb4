"""Finds passages by keyword, ranked by BM25 over all that the caller may see."""

import re
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
import psycopg

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import BadRequest
from memory.domain.analyzer import query_terms
from memory.domain.ids import EpisodeId
from memory.domain.limits import MAX_K
from memory.domain.ranking import best_places, keyword_scores, timed_places
from memory.domain.read_context import ReadContext
from memory.engine import Engine
from memory.search.episodes import EpisodeFilters
from memory.search.passages import FoundPassage, read_passages
from memory.search.segments import passages_matching, read_corpus
from memory.services.access import open_scope

_NO_TEXT: Final = re.compile(r"[\x00\ud800-\udfff]")
MAX_QUERY: Final = 20_000
"""Characters of a query: beyond the longest question; more is a document, which one ingests."""

Order = Literal["relevance", "newest", "oldest"]


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
        score: 0 to 1, of the best match's keyword score.
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
    with engine.index.snapshot() as cursor:
        context = open_scope(engine, cursor, caller, scope)
        if context.scope_id is None or not terms:
            return ()
        ranked = _rank(cursor, context, query, terms)
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
    cursor: psycopg.Cursor, context: ReadContext, query: PassageQuery, terms: tuple[str, ...]
) -> list[tuple[tuple[int, int], float]]:
    """Return the (rid, n) of the k best passages with their scores, in the asked order."""
    by_time = query.order != "relevance"
    corpus = read_corpus(cursor, context, terms)
    keyword = keyword_scores(corpus)
    scores = np.where(keyword.held > 0, keyword.scores, 0.0) if by_time else keyword.scores
    among = passages_matching(cursor, context, corpus, query.filters)
    if by_time:
        newest = query.order == "newest"
        places = timed_places(corpus, scores, among=among, k=query.k, newest=newest)
    else:
        places = best_places(corpus, scores, among=among, k=query.k)
    found = scores if among is None else scores[among]
    best = float(found.max(initial=0.0)) or 1.0
    return [
        (corpus.place_in_episode(place), float(scores[place]) / best) for place in places.tolist()
    ]


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
