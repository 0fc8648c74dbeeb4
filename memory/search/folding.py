"""Folds what landed into segments, and joins segments that follow one another into larger ones.

Outside the landing lock, a transaction a step, one process at a time. A reader's snapshot sees a
passage in the tail or in one segment, never in both or in neither.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import psycopg

from memory.domain.postings import Inverted, invert, unpack
from memory.domain.segment_sizes import run_to_join
from memory.search import ddl
from memory.search.heads import Head
from memory.search.packing import FixedColumns, bigint, column, copy_rows
from memory.search.rows import ROW_BITS

FOLD_PASSAGES: Final = 1_000
"""Passages of a branch that wait before they are folded. A query reads those that wait one by
one, about a millisecond for so many; fewer at a time would write more rows for each."""

_FOLDED_AT_ONCE: Final = 16_000
"""Passages of one fold: their postings take some 60 MB of memory while they are sorted."""

_LIST: Final = FixedColumns("iiqq", columns=7)


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of a scope in a generation."""

    generation: int
    scope_id: int
    branch_id: int

    @property
    def params(self) -> dict[str, object]:
        """Return the parameters of `ON_BRANCH`."""
        return {
            "generation": self.generation,
            "scope_id": self.scope_id,
            "branch_id": self.branch_id,
        }


ON_BRANCH: Final = (
    "generation = %(generation)s AND scope_id = %(scope_id)s AND branch_id = %(branch_id)s"
)

_SOURCE: Final = f"""
WITH few AS (SELECT rid FROM {ddl.SCHEMA}.passages WHERE {ON_BRANCH}
             AND rid > %(after)s AND rid < %(end)s ORDER BY rid LIMIT %(limit)s)
SELECT rid, acl_set_id, occurred_at, thread, terms FROM {ddl.SCHEMA}.passages
WHERE {ON_BRANCH} AND rid > %(after)s AND rid <= (SELECT max(rid) FROM few)
ORDER BY rid, n
"""


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment's own row; its lists are made one at a time."""

    first: int
    passages: int
    to_rid: int
    rids: bytes
    acl_sets: bytes
    lengths: bytes
    occurred: bytes
    threads: bytes
    flags: bytes


def make_segment(
    cursor: psycopg.Cursor, branch: Branch, *, first: int, after: int, end: int, limit: int
) -> tuple[Segment, Inverted] | None:
    """Invert the passages of whole episode rows above `after` and below `end`; None if none is.

    Args:
        first: the number of the first passage.
        limit: about how many passages at most; one row's are never parted.
    """
    rows = cursor.execute(
        _SOURCE, branch.params | {"after": after, "end": end, "limit": limit}
    ).fetchall()
    if not rows:
        return None
    forward = unpack([row[4] for row in rows])
    segment = Segment(
        first=first,
        passages=len(rows),
        to_rid=rows[-1][0],
        rids=np.array([row[0] for row in rows], "<i8").tobytes(),
        acl_sets=np.array([row[1] for row in rows], "<i4").tobytes(),
        lengths=forward.lengths.astype("<u4").tobytes(),
        occurred=np.array([row[2] for row in rows], "<i8").tobytes(),
        threads=np.array([row[3] for row in rows], "<i8").tobytes(),
        flags=forward.flags.tobytes(),
    )
    return segment, invert(forward, first=first)


def fold_waiting(
    connection: psycopg.Connection,
    head: Head,
    *,
    at_least: int = FOLD_PASSAGES,
    steps: int | None = None,
) -> int:
    """Fold the branches in which so many passages wait; return how many were folded.

    Args:
        steps: after so many, each of at most `_FOLDED_AT_ONCE` passages, the rest is left.
    """
    folded = 0
    with connection.transaction(), connection.cursor(binary=True) as cursor:
        if not _alone(cursor, head):
            return 0
        _note_landed(cursor, head)
        waiting = _waiting(cursor, head, at_least=at_least)
    for branch in waiting:
        while steps != 0 and (part := _step(connection, head, branch, at_least=at_least)):
            folded += part
            steps = None if steps is None else steps - 1
    return folded


def _step(connection: psycopg.Connection, head: Head, branch: Branch, *, at_least: int) -> int:
    """Fold once and join what that makes due, each in a transaction of its own."""
    with connection.transaction(), connection.cursor(binary=True) as cursor:
        part = _fold(cursor, head, branch, at_least=at_least) if _alone(cursor, head) else 0
    joined = part > 0
    while joined:
        with connection.transaction(), connection.cursor(binary=True) as cursor:
            joined = _alone(cursor, head) and _join(cursor, branch)
    return part


def _alone(cursor: psycopg.Cursor, head: Head) -> bool:
    """Take the lock of whoever folds a generation until the transaction ends, if it is free."""
    row = cursor.execute(
        "SELECT pg_try_advisory_xact_lock(hashtext('ampup_index.fold'), %s)", (head.generation,)
    ).fetchone()
    return bool(row and row[0])


def _note_landed(cursor: psycopg.Cursor, head: Head) -> None:
    """Add what landed since the last time to what waits, so that no step counts a whole scope."""
    noted = cursor.execute(
        f"UPDATE {ddl.SCHEMA}.ledger_head AS head SET noted_seq = %s"
        f" FROM (SELECT noted_seq FROM {ddl.SCHEMA}.ledger_head WHERE generation = %s) AS before"
        " WHERE generation = %s AND head.noted_seq < %s RETURNING before.noted_seq",
        (head.seq, head.generation, head.generation, head.seq),
    ).fetchone()
    if noted is None:
        return
    cursor.execute(
        f"INSERT INTO {ddl.SCHEMA}.folds_g{head.generation} AS held"
        " (generation, scope_id, branch_id, waiting)"
        " SELECT generation, scope_id, branch_id, sum(passage_count)"
        f" FROM {ddl.SCHEMA}.commits WHERE generation = %s AND seq > %s AND seq <= %s"
        " AND passage_count > 0 GROUP BY generation, scope_id, branch_id"
        " ON CONFLICT (scope_id, branch_id)"
        " DO UPDATE SET waiting = held.waiting + excluded.waiting",
        (head.generation, noted[0], head.seq),
    )


def _waiting(cursor: psycopg.Cursor, head: Head, *, at_least: int) -> list[Branch]:
    rows = cursor.execute(
        f"SELECT scope_id, branch_id FROM {ddl.SCHEMA}.folds"
        " WHERE generation = %s AND waiting >= %s ORDER BY waiting DESC",
        (head.generation, at_least),
    ).fetchall()
    return [Branch(head.generation, scope_id, branch_id) for scope_id, branch_id in rows]


def _fold(cursor: psycopg.Cursor, head: Head, branch: Branch, *, at_least: int) -> int:
    [waiting] = cursor.execute(
        f"SELECT waiting FROM {ddl.SCHEMA}.folds WHERE {ON_BRANCH}", branch.params
    ).fetchone() or (0,)
    if waiting < at_least:
        return 0
    folded = fold_once(cursor, branch, end=(head.seq + 1) << ROW_BITS, limit=_FOLDED_AT_ONCE)
    cursor.execute(
        f"UPDATE {ddl.SCHEMA}.folds SET waiting = waiting - %(folded)s WHERE {ON_BRANCH}",
        branch.params | {"folded": folded},
    )
    return folded


def fold_once(cursor: psycopg.Cursor, branch: Branch, *, end: int, limit: int) -> int:
    """Fold the oldest passages that wait below the row `end`; return how many.

    Args:
        limit: about how many at most; those of one row are never parted.
    """
    first, after = cursor.execute(
        f"SELECT segment + passages, to_rid FROM {ddl.SCHEMA}.segments WHERE {ON_BRANCH}"
        " ORDER BY segment DESC LIMIT 1",
        branch.params,
    ).fetchone() or (0, 0)
    made = make_segment(cursor, branch, first=first, after=after, end=end, limit=limit)
    if made is None:
        return 0
    segment, lists = made
    _write(cursor, branch, segment, lists)
    return segment.passages


def _write(cursor: psycopg.Cursor, branch: Branch, segment: Segment, lists: Inverted) -> None:
    place = (branch.generation, branch.scope_id, branch.branch_id, segment.first)
    cursor.execute(
        f"INSERT INTO {ddl.SCHEMA}.segments (generation, scope_id, branch_id, segment, passages,"
        " to_rid, rids, acl_sets, lengths, occurred, threads, flags)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        (
            *place,
            segment.passages,
            segment.to_rid,
            segment.rids,
            segment.acl_sets,
            segment.lengths,
            segment.occurred,
            segment.threads,
            segment.flags,
        ),
    )
    begin = _LIST.pack(*place)
    copy_rows(
        cursor,
        f"{ddl.SCHEMA}.postings_g{branch.generation}",
        "generation, scope_id, branch_id, segment, term, numbers, counts",
        (
            b"".join((begin, bigint(term), column(numbers), column(counts)))
            for term, numbers, counts in lists
        ),
    )


def _join(cursor: psycopg.Cursor, branch: Branch) -> bool:
    """Join the first run of segments that is due; say whether there was one."""
    rows = cursor.execute(
        f"SELECT segment, passages FROM {ddl.SCHEMA}.segments WHERE {ON_BRANCH} ORDER BY segment",
        branch.params,
    ).fetchall()
    due = run_to_join([passages for _, passages in rows])
    if due is None:
        return False
    segments = [segment for segment, _ in rows[due]]
    params = branch.params | {"segments": segments, "first": segments[0]}
    for table, key, columns in _JOINED_COLUMNS:
        ends = ", ".join(f"string_agg({column}, '' ORDER BY segment)" for column in columns)
        cursor.execute(
            f"WITH held AS (DELETE FROM {ddl.SCHEMA}.{table}"
            f" WHERE {ON_BRANCH} AND segment = ANY(%(segments)s) RETURNING *)"
            f" INSERT INTO {ddl.SCHEMA}.{table}"
            f" SELECT generation, scope_id, branch_id, %(first)s, {key[0]}, {ends}"
            f" FROM held GROUP BY generation, scope_id, branch_id{key[1]}",
            params,
        )
    return True


_JOINED_COLUMNS: Final = (
    ("postings", ("term", ", term"), ("numbers", "counts")),
    (
        "segments",
        ("sum(passages), max(to_rid)", ""),
        ("rids", "acl_sets", "lengths", "occurred", "threads", "flags"),
    ),
)
"""Table, what its columns between place and arrays become and are grouped by, and the arrays."""


def waiting_passages(cursor: psycopg.Cursor, head: Head, *, scope_id: int | None = None) -> int:
    """Return how many passages are in no segment yet, of one scope or of all."""
    row = cursor.execute(
        "SELECT coalesce((SELECT sum(waiting) FROM ampup_index.folds"
        "   WHERE generation = %(generation)s AND scope_id = coalesce(%(scope_id)s, scope_id)), 0)"
        " + coalesce((SELECT sum(passage_count) FROM ampup_index.commits"
        "   WHERE generation = %(generation)s AND seq > %(noted)s"
        "   AND scope_id = coalesce(%(scope_id)s, scope_id)), 0)",
        {"generation": head.generation, "scope_id": scope_id, "noted": head.noted_seq},
    ).fetchone()
    return int(row[0]) if row else 0
