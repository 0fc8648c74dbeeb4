"""Finds the passages whose vectors lie nearest to a query's, among those the caller may see."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import psycopg

from memory.domain.read_context import ReadContext
from memory.search import ddl
from memory.search.lineage_sql import visible_rows
from memory.search.packing import int_array

_EF_SEARCH: Final = 400
"""Of the HNSW graph: how many it keeps in view; recall 0.992 at 100 without a filter.
Source: stack, section 10."""


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A query as its embedder sees it.

    Args:
        embedder: the fingerprint of what computed it; only its vectors are compared.
    """

    embedder: str
    values: Sequence[float]

    @property
    def literal(self) -> str:
        """Return it as Postgres reads it."""
        return "[" + ",".join([f"{value:.6g}" for value in self.values]) + "]"


Cosines = dict[tuple[int, int], float]
"""By a passage's row and number the cosine of its nearest piece."""


def nearest_exactly(
    cursor: psycopg.Cursor,
    context: ReadContext,
    query: QueryVector,
    *,
    limit: int,
    rids: Sequence[int] | None = None,
) -> Cosines:
    """Return the nearest passages by comparing with every vector the caller may see.

    Args:
        rids: the rows that are looked among; None for all.
    """
    seen = visible_rows(context, "held")
    among = seen.sql
    if rids is not None:
        among += " AND held.rid = ANY(%(rids)s::bigint[])"
        seen.params["rids"] = int_array(rids)
    pieces = " UNION ALL ".join(_PIECES.format(table=table, seen=among) for table in _TABLES)
    rows = cursor.execute(
        f"SELECT rid, n, max(cosine) FROM ({pieces}) AS piece"
        " GROUP BY rid, n ORDER BY 3 DESC, rid DESC, n LIMIT %(limit)s",
        seen.params | _params(query) | {"limit": limit},
    ).fetchall()
    return {(rid, n): cosine for rid, n, cosine in rows}


def nearest_by_graph(
    cursor: psycopg.Cursor, context: ReadContext, query: QueryVector, *, limit: int
) -> Cosines:
    """Return about the nearest passages: those under HNSW by its graph, the tail exactly."""
    seen = visible_rows(context, "held")
    width = len(query.values)
    params = seen.params | _params(query) | {"limit": limit}
    cursor.execute(f"SET LOCAL hnsw.ef_search = {_EF_SEARCH}")
    cursor.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
    found: Cosines = {}
    graph = (
        f"SELECT held.rid, held.n, 1 - (held.vector::halfvec({width}) <=> %(vector)s::halfvec)"
        f" FROM {ddl.SCHEMA}.vectors AS held WHERE {seen.sql} AND held.embedder = %(embedder)s"
        f" AND vector_dims(held.vector) = {width}"
        f" ORDER BY held.vector::halfvec({width}) <=> %(vector)s::halfvec LIMIT %(limit)s"
    )
    tail = (
        f"SELECT rid, n, cosine FROM ({_PIECES.format(table='vectors_tail', seen=seen.sql)})"
        " AS piece ORDER BY cosine DESC LIMIT %(limit)s"
    )
    for statement in (graph, tail):
        for rid, n, cosine in cursor.execute(statement, params).fetchall():
            found[rid, n] = max(cosine, found.get((rid, n), cosine))
    return found


def cosines_of(
    cursor: psycopg.Cursor,
    context: ReadContext,
    query: QueryVector,
    passages: Sequence[tuple[int, int]],
) -> Cosines:
    """Return the cosines of given passages, which the same context showed, as far as known."""
    wanted = set(passages)
    pieces = " UNION ALL ".join(_PIECES.format(table=table, seen=_GIVEN) for table in _TABLES)
    rows = cursor.execute(
        f"SELECT rid, n, max(cosine) FROM ({pieces}) AS piece GROUP BY rid, n",
        _params(query)
        | {
            "generation": context.generation,
            "scope_id": context.scope_id,
            "rids": int_array({rid for rid, _ in wanted}),
            "ns": int_array({n for _, n in wanted}),
        },
    ).fetchall()
    return {(rid, n): cosine for rid, n, cosine in rows if (rid, n) in wanted}


def _params(query: QueryVector) -> dict[str, object]:
    return {"embedder": query.embedder, "vector": query.literal}


_TABLES: Final = ("vectors", "vectors_tail")
_PIECES: Final = (
    "SELECT held.rid, held.n, 1 - (held.vector <=> %(vector)s::halfvec) AS cosine"
    f" FROM {ddl.SCHEMA}.{{table}} AS held WHERE {{seen}} AND held.embedder = %(embedder)s"
)
_GIVEN: Final = (
    "held.generation = %(generation)s AND held.scope_id = %(scope_id)s"
    " AND held.rid = ANY(%(rids)s::bigint[]) AND held.n = ANY(%(ns)s::int[])"
)
