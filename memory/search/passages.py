"""Reads the passages that were found, to be shown."""

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg

from ampup_site.kernel.clock import Micros
from memory.domain.ids import EpisodeId
from memory.domain.read_context import ReadContext
from memory.search import ddl


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


def read_passages(
    cursor: psycopg.Cursor, context: ReadContext, wanted: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], FoundPassage]:
    """Return the passages at these (rid, n), which a ranking of the same context returned."""
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
