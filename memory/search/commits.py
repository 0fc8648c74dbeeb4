"""Reads the ledger's mirror: the newest commits of a scope."""

from dataclasses import dataclass

import psycopg

from ampup_site.kernel.clock import Micros
from memory.domain.read_context import ReadContext
from memory.search import ddl
from memory.search.heads import Head
from memory.search.lineage_sql import lineage_condition


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit, as administrators are shown it."""

    seq: int
    commit_id: str
    kind: str
    author: str
    committed_at: Micros
    episode_count: int
    fact_count: int
    job_id: str | None
    message: str | None
    chain_hash: str


def read_log(cursor: psycopg.Cursor, context: ReadContext, *, limit: int) -> tuple[Commit, ...]:
    """Return the newest commits on the lineage, newest first."""
    if context.scope_id is None:
        return ()
    params: dict[str, object] = {
        "generation": context.generation,
        "scope_id": context.scope_id,
        "limit": limit,
    }
    rows = cursor.execute(
        "SELECT held.seq, held.commit_id, held.kind, held.author, held.committed_at,"
        " held.episode_count, held.fact_count, held.job_id, held.message, held.chain_hash"
        f" FROM {ddl.SCHEMA}.commits AS held WHERE held.generation = %(generation)s"
        " AND held.scope_id = %(scope_id)s"
        f" AND {lineage_condition('held', context.lineage, params)}"
        " ORDER BY held.seq DESC LIMIT %(limit)s",
        params,
    ).fetchall()
    return tuple(Commit(*row) for row in rows)


def commit_at_head(cursor: psycopg.Cursor, head: Head) -> str | None:
    """Return the commit a generation has reached; None before the first."""
    row = cursor.execute(
        f"SELECT commit_id FROM {ddl.SCHEMA}.commits WHERE generation = %s AND seq = %s",
        (head.generation, head.seq),
    ).fetchone()
    return row[0] if row else None
