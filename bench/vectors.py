"""Drawn vectors for passages that are there: what an embedder would have computed."""

from psycopg import Connection, Cursor

from bench.corpus import VECTOR_WIDTH, draw_vectors
from memory.engine import Engine
from memory.search.heads import Head, live_head
from memory.search.upkeep import move_vectors
from memory.search.vectors import PassageVector, add_vectors, create_vector_index

_CHUNK = 2_000


def put_in_tail(engine: Engine, *, embedder: str, limit: int | None = None) -> int:
    """Give the first passages a vector each in the tail; return how many."""
    with engine.index.connect(application="bench") as connection, connection.cursor() as cursor:
        head = live_head(cursor)
        places = cursor.execute(
            "SELECT scope_id, rid, n FROM ampup_index.passages WHERE generation = %s"
            " ORDER BY scope_id, rid, n LIMIT %s",
            (head.generation, limit),
        ).fetchall()
        for start in range(0, len(places), _CHUNK):
            chunk = places[start : start + _CHUNK]
            drawn = draw_vectors(len(chunk), stream=start + len(embedder))
            by_scope: dict[int, list[PassageVector]] = {}
            for (scope_id, rid, n), values in zip(chunk, drawn.tolist(), strict=True):
                vector = PassageVector(rid, n, embedder, 0, values)
                by_scope.setdefault(scope_id, []).append(vector)
            _add(connection, cursor, head, by_scope)
    return len(places)


def _add(
    connection: Connection, cursor: Cursor, head: Head, by_scope: dict[int, list[PassageVector]]
) -> None:
    with connection.transaction():
        for scope_id, vectors in by_scope.items():
            add_vectors(cursor, generation=head.generation, scope_id=scope_id, vectors=vectors)


def move_and_index(engine: Engine) -> None:
    """Empty the tail, then build HNSW over all vectors: far cheaper than one by one."""
    with engine.index.connect(application="bench") as connection:
        with connection.cursor() as cursor:
            head = live_head(cursor)
        while move_vectors(connection, head, limit=20_000):
            pass
        connection.execute("SET maintenance_work_mem = '512MB'")
        create_vector_index(connection, generation=head.generation, width=VECTOR_WIDTH)
