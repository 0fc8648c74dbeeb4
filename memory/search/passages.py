"""Reads the passages that were found, to be shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

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
    first_unit: int
    last_unit: int
    text: str
    episode_id: EpisodeId
    source: str
    episode_type: str
    document: str | None
    occurred_at: Micros


def read_passages(
    cursor: psycopg.Cursor, context: ReadContext, wanted: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], FoundPassage]:
    """Return the passages at these (rid, n), which a ranking of the same context returned."""
    params = {
        "generation": context.generation,
        "scope_id": context.scope_id,
        "rids": list({rid for rid, _ in wanted}),
        "ns": list({n for _, n in wanted}),
    }
    # Two statements, not a join: where statistics do not know a scope yet, the planner takes it
    # for empty, and each passage could cost a scan of the scope.
    episodes: dict[int, tuple[Any, ...]] = {
        rid: (EpisodeId(bytes(episode).hex()), *rest)
        for rid, episode, *rest in cursor.execute(_EPISODES, params)
    }
    return {
        (rid, n): FoundPassage(rid, n, first, last, text, *episodes[rid])
        for rid, n, first, last, text in cursor.execute(_PASSAGES, params)
    }


_EPISODES: Final = f"""
SELECT rid, episode_id, source, episode_type, document, occurred_at
FROM {ddl.SCHEMA}.episode_rows
WHERE generation = %(generation)s AND scope_id = %(scope_id)s AND rid = ANY(%(rids)s)
"""
_PASSAGES: Final = f"""
SELECT rid, n, first_unit, last_unit, text FROM {ddl.SCHEMA}.passages
WHERE generation = %(generation)s AND scope_id = %(scope_id)s AND rid = ANY(%(rids)s)
  AND n = ANY(%(ns)s)
"""
