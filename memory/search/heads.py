"""Where the index stands: one head a generation, of which one is live, and the scopes' numbers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import psycopg

from ampup_site.kernel.clock import Micros
from memory.domain.errors import IndexBehind
from memory.domain.lineage import Seq
from memory.search import ddl


@dataclass(frozen=True, slots=True)
class Head:
    """A generation and the ledger position it has reached.

    Args:
        chain_hash: the hash of the ledger row at `seq`; the genesis hash at 0.
        noted_seq: up to where the mover has counted the passages that wait to be folded.
        made: tells this making of the generation from one of the same number in an index that
            was dropped since.
    """

    generation: int
    state: str
    seq: Seq
    chain_hash: str
    committed_at: Micros
    analyzer: str
    next_acl_set: int
    noted_seq: Seq
    made: int = 0


_SELECT: Final = f"""
SELECT generation, state, seq, chain_hash, committed_at, analyzer, next_acl_set, noted_seq,
       coalesce(to_regclass('{ddl.SCHEMA}.acl_sets_g' || generation)::oid::bigint, 0)
FROM {ddl.SCHEMA}.ledger_head
"""


def live_head(cursor: psycopg.Cursor) -> Head:
    """Read the live generation's head.

    Raises:
        IndexBehind: there is none: the index was dropped and has to be rebuilt.
    """
    row = cursor.execute(f"{_SELECT} WHERE state = 'live'").fetchone()
    if row is None:
        raise index_missing()
    return Head(*row)


def live_generation(cursor: psycopg.Cursor) -> int | None:
    """Return the live generation; None if there is none."""
    row = cursor.execute(
        f"SELECT generation FROM {ddl.SCHEMA}.ledger_head WHERE state = 'live'"
    ).fetchone()
    return row[0] if row else None


def index_missing() -> IndexBehind:
    """Return the error for an index without a live generation."""
    return IndexBehind("The index has no live generation; run `ampup-memory index rebuild`.")


def advance(
    cursor: psycopg.Cursor,
    head: Head,
    *,
    seq: Seq,
    chain_hash: str,
    committed_at: Micros,
    next_acl_set: int,
) -> None:
    """Move a generation's head, if it still stands where it was read."""
    cursor.execute(
        f"UPDATE {ddl.SCHEMA}.ledger_head SET seq = %s, chain_hash = %s, committed_at = %s,"
        " next_acl_set = %s WHERE generation = %s AND seq = %s",
        (seq, chain_hash, committed_at, next_acl_set, head.generation, head.seq),
    )
    if cursor.rowcount != 1:
        message = "The index head moved under the landing lock."
        raise IndexBehind(message)


def scope_ids(cursor: psycopg.Cursor, namespaces: Iterable[str]) -> dict[str, int]:
    """Return the numbers of the scopes that have one."""
    rows = cursor.execute(
        f"SELECT namespace, scope_id FROM {ddl.SCHEMA}.scopes WHERE namespace = ANY(%s)",
        (list(namespaces),),
    ).fetchall()
    return dict(rows)


def number_scopes(cursor: psycopg.Cursor, namespaces: Iterable[str]) -> dict[str, int]:
    """Return the numbers of these scopes, giving one to each that has none."""
    wanted = sorted(namespaces)
    found = scope_ids(cursor, wanted)
    missing = [namespace for namespace in wanted if namespace not in found]
    if missing:
        cursor.execute(
            f"INSERT INTO {ddl.SCHEMA}.scopes (namespace) SELECT unnest(%s::text[])"
            " ON CONFLICT DO NOTHING",
            (missing,),
        )
        found |= scope_ids(cursor, missing)
    return found
