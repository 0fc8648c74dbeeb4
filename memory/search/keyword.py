"""Keyword candidates: passages a caller may see that hold any of the query's terms.

Terms are taken from the rarest up, so that the expected matches fit the cap; where it still
cuts, it cuts by (sum of idf, newest first), never by the heap's order. Every number is counted
over the rows the caller may see.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import psycopg

from ampup_site.kernel.clock import Micros
from memory.domain.ids import EpisodeId
from memory.domain.postings import tsquery_text
from memory.domain.ranking import inverse_document_frequency
from memory.domain.read_context import ReadContext
from memory.search import ddl
from memory.search.episodes import EpisodeFilters, filter_conditions
from memory.search.lineage_sql import visible_rows

CANDIDATE_CAP: Final = 2_000
"""How many passages are ranked exactly: unpacking them costs some milliseconds, and the best k
(at most 200) of a sum of idf beyond so many cannot be told apart by it anyway."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 needs to know of the passages a caller may see.

    Args:
        passages: how many there are.
        mean_length: their mean length in lexemes; 0 if there are none.
        frequencies: in how many of them each query term stands.
    """

    passages: int
    mean_length: float
    frequencies: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage to be ranked, with its compact terms."""

    rid: int
    n: int
    occurred_at: Micros
    terms: bytes


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage to be shown."""

    rid: int
    n: int
    episode_id: EpisodeId
    source: str
    episode_type: str
    document: str | None
    occurred_at: Micros
    first_unit: int
    last_unit: int
    text: str


def read_statistics(
    cursor: psycopg.Cursor, context: ReadContext, terms: Sequence[str]
) -> Statistics:
    """Count the passages the caller may see, and those with each term."""
    sets = "" if context.visible is None else " AND acl_set_id = ANY(%(visible)s)"
    row = cursor.execute(
        "SELECT coalesce(sum(passages), 0)::bigint, coalesce(sum(lexemes), 0)::bigint"
        f" FROM {ddl.SCHEMA}.passage_counts"
        f" WHERE generation = %(generation)s AND scope_id = %(scope_id)s{sets}",
        {
            "generation": context.generation,
            "scope_id": context.scope_id,
            "visible": list(context.visible or ()),
        },
    ).fetchone()
    passages, lexemes = row or (0, 0)
    return Statistics(
        passages=passages,
        mean_length=lexemes / passages if passages else 0.0,
        frequencies=tuple(_frequency(cursor, context, term) for term in terms),
    )


def _frequency(cursor: psycopg.Cursor, context: ReadContext, term: str) -> int:
    seen = visible_rows(context, "held")
    row = cursor.execute(
        f"SELECT count(*) FROM {ddl.SCHEMA}.passages AS held"
        f" WHERE held.tsv @@ %(query)s::tsquery AND {seen.sql}",
        seen.params | {"query": tsquery_text((term,))},
    ).fetchone()
    return int(row[0]) if row else 0


def rarest_terms(statistics: Statistics) -> tuple[int, ...]:
    """Return the places of the terms to look for: the rarest up while their matches fit the cap."""
    present = [place for place, count in enumerate(statistics.frequencies) if count]
    present.sort(key=lambda place: (statistics.frequencies[place], place))
    chosen: list[int] = []
    expected = 0
    for place in present:
        expected += statistics.frequencies[place]
        if chosen and expected > CANDIDATE_CAP:
            break
        chosen.append(place)
    return tuple(chosen)


def find_candidates(
    cursor: psycopg.Cursor,
    context: ReadContext,
    terms: Sequence[str],
    statistics: Statistics,
    *,
    filters: EpisodeFilters,
    by_time: str | None,
    limit: int,
) -> tuple[Candidate, ...]:
    """Return visible passages that hold any of the terms.

    Args:
        by_time: `DESC` or `ASC` takes the newest or oldest matches of all terms; None the best
            by their sum of idf over the rarest terms, newest first.
    """
    places = rarest_terms(statistics) if by_time is None else range(len(terms))
    if not places:
        return ()
    seen = visible_rows(context, "passage")
    params = seen.params | {"query": tsquery_text([terms[place] for place in places])}
    conditions = [seen.sql, "passage.tsv @@ %(query)s::tsquery"]
    for condition, name, value in filter_conditions(filters):
        conditions.append(condition)
        params[name] = value
    if by_time is None:
        order = f"{_idf_sum(terms, places, statistics, params)} DESC, passage.rid DESC, passage.n"
    else:
        order = f"held.occurred_at {by_time}, passage.rid {by_time}, passage.n"
    rows = cursor.execute(
        "SELECT passage.rid, passage.n, held.occurred_at, passage.terms"
        f" FROM {ddl.SCHEMA}.passages AS passage JOIN {ddl.SCHEMA}.episode_rows AS held"
        " ON held.generation = %(generation)s AND held.scope_id = %(scope_id)s"
        " AND held.rid = passage.rid"
        f" WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT %(limit)s",
        params | {"limit": limit},
    ).fetchall()
    return tuple(Candidate(rid, n, occurred, bytes(packed)) for rid, n, occurred, packed in rows)


def _idf_sum(
    terms: Sequence[str],
    places: Sequence[int],
    statistics: Statistics,
    params: dict[str, object],
) -> str:
    parts = []
    for place in places:
        params[f"term{place}"] = tsquery_text((terms[place],))
        params[f"idf{place}"] = inverse_document_frequency(
            statistics.frequencies[place], passages=statistics.passages
        )
        parts.append(
            f"CASE WHEN passage.tsv @@ %(term{place})s::tsquery"
            f" THEN %(idf{place})s::float8 ELSE 0 END"
        )
    return "(" + " + ".join(parts) + ")"


def read_passages(
    cursor: psycopg.Cursor, context: ReadContext, wanted: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], FoundPassage]:
    """Return the passages at these (rid, n), which `find_candidates` returned."""
    rows = cursor.execute(
        "SELECT passage.rid, passage.n, held.episode_id, held.source, held.episode_type,"
        " held.document, held.occurred_at, passage.first_unit, passage.last_unit, passage.text"
        " FROM unnest(%(rids)s::bigint[], %(ns)s::int[]) AS wanted (rid, n)"
        f" JOIN {ddl.SCHEMA}.passages AS passage"
        " ON passage.generation = %(generation)s AND passage.scope_id = %(scope_id)s"
        " AND passage.rid = wanted.rid AND passage.n = wanted.n"
        f" JOIN {ddl.SCHEMA}.episode_rows AS held"
        " ON held.generation = %(generation)s AND held.scope_id = %(scope_id)s"
        " AND held.rid = passage.rid",
        {
            "generation": context.generation,
            "scope_id": context.scope_id,
            "rids": [rid for rid, _ in wanted],
            "ns": [n for _, n in wanted],
        },
    ).fetchall()
    return {
        (rid, n): FoundPassage(rid, n, EpisodeId(bytes(episode).hex()), *rest)
        for rid, n, episode, *rest in rows
    }
