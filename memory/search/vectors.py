"""Vectors of passages: kept by content, so that a new generation takes over what is there."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import psycopg

from memory.search import ddl


@dataclass(frozen=True, slots=True)
class PassageVector:
    """A vector of one piece of a passage.

    Args:
        embedder: the fingerprint of what computed it.
        part: the piece's place in the passage, from 0.
        values: as long as the embedder's width.
    """

    rid: int
    n: int
    embedder: str
    part: int
    values: Sequence[float]


def create_vector_index(connection: psycopg.Connection, *, generation: int, width: int) -> None:
    """Make the HNSW index for vectors of one width, where it is missing."""
    name = f"{ddl.SCHEMA}.vectors_g{generation}_hnsw{width}"
    # Looked at first: CREATE INDEX locks the table before it sees that there is nothing to do.
    row = connection.execute("SELECT to_regclass(%s)", (name,)).fetchone()
    if row is not None and row[0] is not None:
        return
    with connection.transaction():
        connection.execute(f"SET LOCAL search_path TO {ddl.SCHEMA}, public")
        connection.execute(
            f"CREATE INDEX IF NOT EXISTS vectors_g{generation}_hnsw{width}"
            f" ON vectors_g{generation} USING hnsw ((vector::halfvec({width})) halfvec_cosine_ops)"
            f" WHERE vector_dims(vector) = {width}"
        )


def add_vectors(
    cursor: psycopg.Cursor, *, generation: int, scope_id: int, vectors: Sequence[PassageVector]
) -> int:
    """Add vectors to the tail for passages that are there and have none yet; return how many."""
    added = 0
    for vector in vectors:
        literal = "[" + ",".join(f"{value:.7g}" for value in vector.values) + "]"
        cursor.execute(
            f"INSERT INTO {ddl.SCHEMA}.vectors_tail"
            " SELECT held.generation, held.scope_id, held.branch_id, held.seq, held.rid, held.n,"
            " held.acl_set_id, %(embedder)s, held.content, %(part)s,"
            " sha256(halfvec_send(%(vector)s::halfvec)), %(vector)s::halfvec"
            f" FROM {ddl.SCHEMA}.passages AS held"
            " WHERE held.generation = %(generation)s AND held.scope_id = %(scope_id)s"
            " AND held.rid = %(rid)s AND held.n = %(n)s"
            f" AND NOT EXISTS (SELECT 1 FROM {ddl.SCHEMA}.vectors AS moved"
            "  WHERE moved.generation = held.generation AND moved.scope_id = held.scope_id"
            "  AND moved.rid = held.rid AND moved.n = held.n AND moved.part = %(part)s"
            "  AND moved.embedder = %(embedder)s)"
            " ON CONFLICT DO NOTHING",
            {
                "generation": generation,
                "scope_id": scope_id,
                "rid": vector.rid,
                "n": vector.n,
                "embedder": vector.embedder,
                "part": vector.part,
                "vector": literal,
            },
        )
        added += cursor.rowcount
    return added


def copy_vectors(cursor: psycopg.Cursor, *, from_generation: int, to_generation: int) -> int:
    """Take over another generation's vectors for passages of the same place and content.

    Into the tail, and but for those that the mover has put under HNSW already.
    """
    copied = 0
    for table in ("vectors", "vectors_tail"):
        cursor.execute(
            f"INSERT INTO {ddl.SCHEMA}.vectors_tail"
            " SELECT held.generation, held.scope_id, held.branch_id, held.seq, held.rid, held.n,"
            " held.acl_set_id, old.embedder, held.content, old.part, old.fingerprint, old.vector"
            f" FROM {ddl.SCHEMA}.{table} AS old JOIN {ddl.SCHEMA}.passages AS held"
            " ON held.generation = %s AND held.scope_id = old.scope_id AND held.rid = old.rid"
            " AND held.n = old.n AND held.content = old.content"
            " WHERE old.generation = %s AND NOT EXISTS"
            f" (SELECT 1 FROM {ddl.SCHEMA}.vectors AS moved WHERE moved.generation = %s"
            "  AND moved.scope_id = old.scope_id AND moved.rid = old.rid AND moved.n = old.n"
            "  AND moved.part = old.part AND moved.embedder = old.embedder)"
            " ON CONFLICT DO NOTHING",
            (to_generation, from_generation, to_generation),
        )
        copied += cursor.rowcount
    return copied


def fingerprint(halfvec_bytes: bytes) -> bytes:
    """Return a stored vector's fingerprint: the SHA-256 of its binary form."""
    return hashlib.sha256(halfvec_bytes).digest()
