"""What the mover does to a generation outside the landing lock, a small step at a time."""

from typing import Final

import psycopg

from memory.search import ddl
from memory.search.heads import Head

VECTOR_BATCH: Final = 200
"""Vectors moved in one transaction: HNSW costs 0.8 ms a row, so a step ends in about 0.2 s."""

FLUSH_PASSAGES: Final = 500
"""Pending passages above which the text index is flushed: readers pay 1.4 ms for so many."""

TAIL_LIMIT: Final = 5_000
"""Vectors in the tail above which status says so and loads slow down."""


def pending_passages(cursor: psycopg.Cursor, head: Head, *, scope_id: int | None = None) -> int:
    """Return how many passages landed since the text index was flushed, of one scope or of all."""
    row = cursor.execute(
        f"SELECT coalesce(sum(passage_count), 0)::bigint FROM {ddl.SCHEMA}.commits"
        " WHERE generation = %s AND seq > %s AND scope_id = coalesce(%s, scope_id)",
        (head.generation, head.flushed_seq, scope_id),
    ).fetchone()
    return int(row[0]) if row else 0


def flush_text(connection: psycopg.Connection, head: Head) -> None:
    """Move the text index's pending list into the index proper, and say up to where."""
    connection.execute(
        "SELECT gin_clean_pending_list(%s::regclass)",
        (f"{ddl.SCHEMA}.passages_g{head.generation}_tsv",),
    )
    connection.execute(
        f"UPDATE {ddl.SCHEMA}.ledger_head SET flushed_seq = greatest(flushed_seq, %s)"
        " WHERE generation = %s",
        (head.seq, head.generation),
    )


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
            f" INSERT INTO {ddl.SCHEMA}.vectors SELECT * FROM moved",
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


def fold_counts(connection: psycopg.Connection, head: Head, *, above: int = 2_000) -> int:
    """Sum a scope's count rows into one a set where there are many; sums stay as they were.

    Returns:
        How many rows were folded.
    """
    folded = 0
    with connection.transaction(), connection.cursor() as cursor:
        scopes = cursor.execute(
            f"SELECT scope_id FROM {ddl.SCHEMA}.passage_counts WHERE generation = %s"
            " GROUP BY scope_id HAVING count(*) > %s + 4 * count(DISTINCT acl_set_id)",
            (head.generation, above),
        ).fetchall()
        for (scope_id,) in scopes:
            cursor.execute(
                f"WITH old AS (DELETE FROM {ddl.SCHEMA}.passage_counts"
                " WHERE generation = %(generation)s AND scope_id = %(scope_id)s"
                " AND seq <= %(seq)s RETURNING *)"
                f" INSERT INTO {ddl.SCHEMA}.passage_counts"
                " SELECT generation, scope_id, acl_set_id, max(seq), sum(passages), sum(lexemes)"
                " FROM old GROUP BY generation, scope_id, acl_set_id",
                {"generation": head.generation, "scope_id": scope_id, "seq": head.seq},
            )
            folded += cursor.rowcount
    return folded
