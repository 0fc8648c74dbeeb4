"""Finds the passages that have no vectors of an embedder yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import psycopg

from memory.domain.lineage import Seq
from memory.search import ddl
from memory.search.heads import Head
from memory.search.rows import ROW_BITS


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A passage without vectors."""

    scope_id: int
    rid: int
    n: int
    text: str


@dataclass(frozen=True, slots=True)
class Backlog:
    """The passages without vectors of some commits.

    Args:
        upto: once they have theirs, every passage up to this ledger position has.
    """

    passages: Sequence[Unembedded]
    upto: Seq

    def done(self, head: Head, embedder: str) -> tuple[str, dict[str, object]]:
        """Return the statement that notes it."""
        return _NOTE, {"generation": head.generation, "embedder": embedder, "upto": self.upto}


def begin_embedder(cursor: psycopg.Cursor, head: Head, embedder: str) -> None:
    """Begin at the start if another embedder was the last one."""
    cursor.execute(
        f"UPDATE {ddl.SCHEMA}.ledger_head SET embedder = %s, embedded_seq = 0"
        " WHERE generation = %s AND embedder IS DISTINCT FROM %s",
        (embedder, head.generation, embedder),
    )


def embedded_up_to(cursor: psycopg.Cursor, head: Head, embedder: str) -> Seq:
    """Return up to which ledger position every passage has its vectors."""
    row = cursor.execute(
        f"SELECT embedded_seq FROM {ddl.SCHEMA}.ledger_head"
        " WHERE generation = %s AND embedder = %s",
        (head.generation, embedder),
    ).fetchone()
    return Seq(row[0]) if row else Seq(0)


def passages_without(
    cursor: psycopg.Cursor, head: Head, embedder: str, *, since: Seq, limit: int
) -> Backlog:
    """Return what has no vectors of the commits after `since`, about `limit` passages of them."""
    rows = cursor.execute(
        "SELECT seq, scope_id, passage_count, sum(passage_count) OVER (ORDER BY seq)"
        f" FROM {ddl.SCHEMA}.commits WHERE generation = %s AND seq > %s AND seq <= %s"
        " ORDER BY seq LIMIT 1000",
        (head.generation, since, head.seq),
    ).fetchall()
    taken = [row for row in rows if row[3] - row[2] < limit]
    passages: list[Unembedded] = []
    for seq, scope_id, count, _ in taken:
        if count:
            params = {
                "generation": head.generation,
                "scope_id": scope_id,
                "embedder": embedder,
                "from": seq << ROW_BITS,
                "to": (seq + 1) << ROW_BITS,
            }
            passages += [
                Unembedded(scope_id, rid, n, text)
                for rid, n, text in cursor.execute(_WITHOUT, params).fetchall()
            ]
    return Backlog(passages, Seq(taken[-1][0]) if taken else head.seq)


def count_waiting(cursor: psycopg.Cursor, head: Head, embedder: str, scope_id: int | None) -> int:
    """Return how many passages were landed and not embedded yet, of one scope or of all."""
    row = cursor.execute(
        f"SELECT coalesce(sum(passage_count), 0) FROM {ddl.SCHEMA}.commits"
        " WHERE generation = %s AND seq > %s AND scope_id = coalesce(%s, scope_id)",
        (head.generation, embedded_up_to(cursor, head, embedder), scope_id),
    ).fetchone()
    return int(row[0]) if row else 0


_WITHOUT: Final = f"""
SELECT held.rid, held.n, held.text FROM {ddl.SCHEMA}.passages AS held
WHERE held.generation = %(generation)s AND held.scope_id = %(scope_id)s
  AND held.rid >= %(from)s AND held.rid < %(to)s
  AND NOT EXISTS (SELECT 1 FROM {ddl.SCHEMA}.vectors AS there
    WHERE there.generation = %(generation)s AND there.scope_id = %(scope_id)s
      AND there.rid = held.rid AND there.n = held.n AND there.embedder = %(embedder)s)
  AND NOT EXISTS (SELECT 1 FROM {ddl.SCHEMA}.vectors_tail AS there
    WHERE there.generation = %(generation)s AND there.scope_id = %(scope_id)s
      AND there.rid = held.rid AND there.n = held.n AND there.embedder = %(embedder)s)
ORDER BY held.rid, held.n
"""
_NOTE: Final = f"""
UPDATE {ddl.SCHEMA}.ledger_head SET embedded_seq = %(upto)s
WHERE generation = %(generation)s AND embedder = %(embedder)s AND embedded_seq < %(upto)s
"""
