"""Finds passages by keyword and meaning, among all that the caller may see."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

import psycopg

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import BadRequest
from memory.domain.analyzer import query_terms
from memory.domain.ids import EpisodeId
from memory.domain.limits import MAX_K
from memory.domain.ranking import Corpus, Mask
from memory.domain.read_context import ReadContext
from memory.domain.times import EPOCH
from memory.domain.windows import Window, named_window
from memory.engine import Engine
from memory.search.episodes import EpisodeFilters
from memory.search.nearest import QueryVector
from memory.search.passages import FoundPassage, read_passages
from memory.search.segments import passages_matching
from memory.services.access import open_scope
from memory.services.ranking import Embedded, Ranked, rank, rank_by_time

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
        explain: whether each hit says how its score came about.
    """

    text: str
    k: int = 10
    order: Order = "relevance"
    filters: EpisodeFilters = field(default_factory=EpisodeFilters)
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Explained:
    """How a hit's score came about.

    Args:
        keyword, meaning: its parts, each 0 to 1 of the best candidate's; meaning is None where it
            had no vote.
        fields: which of the passage's hold a word of the query: `body`, `names`; none if only
            what stands beside it does, or nothing.
    """

    keyword: float
    meaning: float | None
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage that matches.

    Args:
        label: its units as citations name them: `t3` or `t3-t9`.
        score: 0 to 1, of the best that could be reached.
        explained: where it was asked for.
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
    explained: Explained | None = None


def find_passages(
    engine: Engine, caller: Caller, scope: Scope, query: PassageQuery
) -> tuple[PassageHit, ...]:
    """Return the passages the caller may see that match best, best first.

    Equal scores are told apart by time of landing, newest first, then by place in the episode.

    Raises:
        BadRequest: a field of the query is out of range.
    """
    _check(query)
    with _embedding(engine, query) as embedded, engine.index.snapshot() as cursor:
        context = open_scope(engine, cursor, caller, scope)
        if context.scope_id is None:
            return ()
        window = asked_window(engine, caller, query.text)
        ranked = _rank(cursor, context, query, embedded, window)
        found = read_passages(cursor, context, [(one.rid, one.n) for one in ranked])
    return tuple(_hit(engine, found[one.rid, one.n], one, explain=query.explain) for one in ranked)


def asked_window(engine: Engine, caller: Caller, text: str) -> Window | None:
    """Return the time that a query names, by the caller's clock; None if it names none."""
    now = EPOCH + timedelta(microseconds=engine.clock.now())
    return named_window(text, now=now, zone=ZoneInfo(caller.time_zone))


@contextmanager
def _embedding(engine: Engine, query: PassageQuery) -> Iterator[Embedded]:
    """Begin to embed the query while keyword search runs; an order by time needs no meaning."""
    meaning = engine.meaning
    if meaning is None or query.order != "relevance":
        yield lambda: None
        return
    fingerprint = meaning.embedder.fingerprint
    with meaning.query(query.text) as vector:

        def embedded() -> QueryVector | None:
            values = vector()
            return None if values is None else QueryVector(fingerprint, values.tolist())

        yield embedded


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
    embedded: Embedded,
    window: Window | None,
) -> list[Ranked]:
    """Return the k passages that are shown, in the asked order."""

    def among(corpus: Corpus) -> Mask | None:
        return passages_matching(cursor, context, corpus, query.filters)

    terms = query_terms(query.text)
    if query.order == "relevance":
        return rank(cursor, context, terms, embedded, among=among, k=query.k, window=window)
    newest = query.order == "newest"
    return rank_by_time(cursor, context, terms, among=among, k=query.k, newest=newest)


def _hit(engine: Engine, found: FoundPassage, ranked: Ranked, *, explain: bool) -> PassageHit:
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
        score=round(ranked.score, 6),
        explained=_explained(ranked) if explain else None,
    )


def _explained(ranked: Ranked) -> Explained:
    meaning = None if ranked.meaning is None else round(ranked.meaning, 6)
    return Explained(round(ranked.keyword, 6), meaning, ranked.fields)
