"""Compares folded segments with what folding the stored passages again gives."""

from collections.abc import Iterator

import psycopg

from memory.search import ddl
from memory.search.folding import ON_BRANCH, Branch, Segment, make_segment


def damaged_segments(
    cursor: psycopg.Cursor, *, generation: int, to_seq: int
) -> Iterator[tuple[str, str]]:
    """Yield (kind, where) of what differs: missing, extra or stale.

    The passages' own rows are compared with the tables elsewhere, so what agrees with them here
    agrees with the bodies.
    """
    yield from _orphans(cursor, generation)
    for branch in _branches(cursor, generation):
        first = after = 0
        for held in _segments(cursor, branch):
            where = f"segments {branch.scope_id}/{branch.branch_id}/{held.first}"
            made = make_segment(
                cursor, branch, first=first, after=after, end=held.to_rid + 1, limit=held.passages
            )
            first, after = held.first + held.passages, held.to_rid
            if made is None:
                yield "extra", where
                continue
            segment, lists = made
            if segment != held:
                yield "stale", where
            yield from _compare_lists(cursor, branch, held, dict(_keyed(lists)), where)
    if _waiting(cursor, generation) != _unfolded(cursor, generation, to_seq):
        yield "stale", "folds"


def _keyed(lists: Iterator[tuple[int, bytes, bytes]]) -> Iterator[tuple[int, tuple[bytes, bytes]]]:
    return ((key, (numbers, counts)) for key, numbers, counts in lists)


def _compare_lists(
    cursor: psycopg.Cursor,
    branch: Branch,
    held: Segment,
    expected: dict[int, tuple[bytes, bytes]],
    where: str,
) -> Iterator[tuple[str, str]]:
    rows = cursor.execute(
        f"SELECT term, numbers, counts FROM {ddl.SCHEMA}.postings"
        f" WHERE {ON_BRANCH} AND segment = %(segment)s",
        branch.params | {"segment": held.first},
    ).fetchall()
    for term, numbers, counts in rows:
        right = expected.pop(term, None)
        if right is None:
            yield "extra", f"{where} term {term}"
        elif right != (bytes(numbers), bytes(counts)):
            yield "stale", f"{where} term {term}"
    for term in expected:
        yield "missing", f"{where} term {term}"


def _branches(cursor: psycopg.Cursor, generation: int) -> list[Branch]:
    rows = cursor.execute(
        f"SELECT DISTINCT scope_id, branch_id FROM {ddl.SCHEMA}.segments WHERE generation = %s",
        (generation,),
    ).fetchall()
    return [Branch(generation, *row) for row in rows]


def _segments(cursor: psycopg.Cursor, branch: Branch) -> list[Segment]:
    rows = cursor.execute(
        "SELECT segment, passages, to_rid, rids, acl_sets, lengths, occurred, threads, flags"
        f" FROM {ddl.SCHEMA}.segments WHERE {ON_BRANCH} ORDER BY segment",
        branch.params,
    ).fetchall()
    return [Segment(*row[:3], *(bytes(array) for array in row[3:])) for row in rows]


def _orphans(cursor: psycopg.Cursor, generation: int) -> Iterator[tuple[str, str]]:
    """Yield lists of a segment that is none."""
    rows = cursor.execute(
        f"SELECT scope_id, branch_id, segment FROM {ddl.SCHEMA}.postings AS list"
        " WHERE list.generation = %s GROUP BY scope_id, branch_id, segment"
        f" HAVING NOT EXISTS (SELECT 1 FROM {ddl.SCHEMA}.segments AS segment"
        "  WHERE segment.generation = %s AND segment.scope_id = list.scope_id"
        "  AND segment.branch_id = list.branch_id AND segment.segment = list.segment)",
        (generation, generation),
    ).fetchall()
    for row in rows:
        yield "extra", "postings {}/{}/{}".format(*row)


def _waiting(cursor: psycopg.Cursor, generation: int) -> dict[tuple[int, int], int]:
    rows = cursor.execute(
        f"SELECT scope_id, branch_id, waiting FROM {ddl.SCHEMA}.folds"
        " WHERE generation = %s AND waiting <> 0",
        (generation,),
    ).fetchall()
    return {(scope_id, branch_id): waiting for scope_id, branch_id, waiting in rows}


def _unfolded(cursor: psycopg.Cursor, generation: int, to_seq: int) -> dict[tuple[int, int], int]:
    """Count the passages that wait, of those that landed when waiting ones were last counted."""
    rows = cursor.execute(
        "SELECT passage.scope_id, passage.branch_id, count(*)"
        f" FROM {ddl.SCHEMA}.passages AS passage"
        f" LEFT JOIN (SELECT scope_id, branch_id, max(to_rid) AS to_rid FROM {ddl.SCHEMA}.segments"
        "  WHERE generation = %s GROUP BY scope_id, branch_id) AS folded"
        " ON folded.scope_id = passage.scope_id AND folded.branch_id = passage.branch_id"
        " WHERE passage.generation = %s AND passage.seq <= %s"
        " AND passage.rid > coalesce(folded.to_rid, 0) GROUP BY 1, 2",
        (generation, generation, to_seq),
    ).fetchall()
    return {(scope_id, branch_id): count for scope_id, branch_id, count in rows}
