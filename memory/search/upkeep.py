"""Moves vectors from where they land to where they are searched, a small step at a time."""

from typing import Final

import psycopg

from memory.search import ddl
from memory.search.heads import Head

VECTOR_BATCH: Final = 200
"""Vectors moved in one transaction: HNSW costs 0.8 ms a row, so a step ends in about 0.2 s."""

TAIL_LIMIT: Final = 5_000
"""Vectors in the tail above which status says so and loads slow down."""


def move_vectors(connection: psycopg.Connection, head: Head, *, limit: int = VECTOR_BATCH) -> int:
    """Move the oldest vectors of the tail under HNSW in one transaction; return how many.

    A read sees a vector in one of the two places, never in both or neither.
    """
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute(
            f"WITH moved AS (DELETE FROM {ddl.SCHEMA}.vectors_tail"
            f" WHERE generation = %(generation)s AND (scope_id, rid, n, part, embedder) IN"
            f" (SELECT scope_id, rid, n, part, embedder FROM {ddl.SCHEMA}.vectors_tail"
            "   WHERE generation = %(generation)s ORDER BY rid, n, part LIMIT %(limit)s"
            "   FOR UPDATE SKIP LOCKED) RETURNING *)"
            # One that is there already came into the tail a second time: it leaves it for good.
            f" INSERT INTO {ddl.SCHEMA}.vectors SELECT * FROM moved ON CONFLICT DO NOTHING",
            {"generation": head.generation, "limit": limit},
        )
        return cursor.rowcount


def tail_length(cursor: psycopg.Cursor, head: Head, *, scope_id: int | None = None) -> int:
    """Return how many vectors wait in the tail, of one scope or of all."""
    row = cursor.execute(
        f"SELECT count(*) FROM {ddl.SCHEMA}.vectors_tail"
        " WHERE generation = %s AND scope_id = coalesce(%s, scope_id)",
        (head.generation, scope_id),
    ).fetchone()
    return int(row[0]) if row else 0
