"""Reads where a query's terms stand: folded segments, and the tail of what landed since.

A segment holds the passages of a branch of a scope that follow one another, inverted: one row of
`segments` with an array a column, and one row of `postings` a term. Numbers of passages count up
through a branch of a generation, so lists and arrays of neighbours are joined end to end. What
landed since the last fold is read from the passages' own columns.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt
import psycopg

from memory.domain.lineage import Piece
from memory.domain.neighbours import Neighbours, in_thread_order
from memory.domain.postings import ASSISTANT, FIELDS, listed, lists_of, term_key, unpack
from memory.domain.ranking import Corpus, Mask, TermList
from memory.domain.read_context import ReadContext
from memory.domain.weights import term_weight
from memory.search import ddl
from memory.search.episodes import EpisodeFilters, filter_conditions
from memory.search.lineage_sql import lineage_condition, visible_rows
from memory.search.rows import ROW_BITS

_SEGMENTS: Final = f"""
SELECT segment, passages, to_rid, rids, acl_sets, lengths, occurred, threads, flags
FROM {ddl.SCHEMA}.segments
WHERE generation = %(generation)s AND scope_id = %(scope_id)s AND branch_id = %(branch)s
ORDER BY segment
"""
_POSTINGS: Final = f"""
SELECT term, segment, numbers, counts FROM {ddl.SCHEMA}.postings
WHERE generation = %(generation)s AND scope_id = %(scope_id)s AND branch_id = %(branch)s
  AND segment = ANY(%(segments)s) AND term = ANY(%(terms)s)
ORDER BY segment
"""
_TAIL: Final = f"""
SELECT rid, acl_set_id, terms, occurred_at, thread FROM {ddl.SCHEMA}.passages
WHERE generation = %(generation)s AND scope_id = %(scope_id)s AND branch_id = %(branch)s
  AND rid > %(after)s AND rid < %(end)s
ORDER BY rid, n
"""


@dataclass(slots=True)
class _Shelf:
    """Arrays and lists put end to end as they are read."""

    rids: list[npt.NDArray[np.int64]] = field(default_factory=list)
    sets: list[npt.NDArray[np.int32]] = field(default_factory=list)
    lengths: list[npt.NDArray[np.uint32]] = field(default_factory=list)
    occurred: list[npt.NDArray[np.int64]] = field(default_factory=list)
    threads: list[npt.NDArray[np.int64]] = field(default_factory=list)
    flags: list[npt.NDArray[np.uint8]] = field(default_factory=list)
    seen: list[Mask] = field(default_factory=list)
    lists: defaultdict[int, list[TermList]] = field(default_factory=lambda: defaultdict(list))
    size: int = 0


def read_corpus(cursor: psycopg.Cursor, context: ReadContext, terms: Sequence[str]) -> Corpus:
    """Read what ranking the terms needs; the cursor's transaction is one snapshot."""
    shelf = _Shelf()
    keys = [term_key(term) for term in terms]
    branches: dict[int, list[Piece]] = defaultdict(list)
    for piece in context.lineage:
        branches[piece.branch_id].append(piece)
    for branch_id, pieces in branches.items():
        start = len(shelf.rids)
        place: dict[str, object] = {
            "generation": context.generation,
            "scope_id": context.scope_id,
            "branch": branch_id,
        }
        after = _read_segments(cursor, place, keys, shelf)
        end = (max(piece.to_seq for piece in pieces) + 1) << ROW_BITS
        _read_tail(cursor, place | {"after": after, "end": end}, keys, shelf)
        shelf.seen += [_on_pieces(rids, pieces) for rids in shelf.rids[start:]]
    rids = _joined(shelf.rids, np.int64)
    occurred, threads = _joined(shelf.occurred, np.int64), _joined(shelf.threads, np.int64)
    seen = _visible(cursor, context, rids, _joined(shelf.sets, np.int32))
    seen &= _joined(shelf.seen, np.bool_)
    order = in_thread_order(threads, occurred)
    return Corpus(
        rids=rids,
        lengths=np.concatenate(shelf.lengths) if shelf.lengths else np.zeros((0, FIELDS), "u4"),
        seen=seen,
        lists=[
            TermList(
                np.concatenate([held.places for held in shelf.lists[place]]),
                np.concatenate([held.counts for held in shelf.lists[place]]),
                term_weight(terms[place]),
            )
            for place in sorted(shelf.lists)
        ],
        occurred=occurred,
        missing=sum(
            term_weight(term) for place, term in enumerate(terms) if place not in shelf.lists
        ),
        assistant=_joined(shelf.flags, np.uint8) & ASSISTANT != 0,
        neighbours=Neighbours.among(order, seen, threads=threads, occurred=occurred),
    )


def _read_segments(
    cursor: psycopg.Cursor,
    place: dict[str, object],
    keys: Sequence[int],
    shelf: _Shelf,
) -> int:
    """Take the segments of a branch; return the last row in them."""
    rows = cursor.execute(_SEGMENTS, place).fetchall()
    if not rows:
        return 0
    base = shelf.size
    for _, passages, _, rids, sets, lengths, occurred, threads, flags in rows:
        shelf.rids.append(np.frombuffer(rids, "<i8"))
        shelf.sets.append(np.frombuffer(sets, "<i4"))
        shelf.lengths.append(np.frombuffer(lengths, "<u4").reshape(passages, -1))
        shelf.occurred.append(np.frombuffer(occurred, "<i8"))
        shelf.threads.append(np.frombuffer(threads, "<i8"))
        shelf.flags.append(np.frombuffer(flags, "u1"))
        shelf.size += passages
    found = cursor.execute(
        _POSTINGS, place | {"segments": [row[0] for row in rows], "terms": list(keys)}
    )
    places = {key: number for number, key in enumerate(keys)}
    for key, _, numbers, counts in found:
        held, frequencies = listed(numbers, counts)
        shelf.lists[places[key]].append(TermList(held.astype(np.int64) + base, frequencies))
    return int(rows[-1][2])


def _read_tail(
    cursor: psycopg.Cursor, place: dict[str, object], keys: Sequence[int], shelf: _Shelf
) -> None:
    rows = cursor.execute(_TAIL, place).fetchall()
    if not rows:
        return
    forward = unpack([row[2] for row in rows])
    for number, held, counts in lists_of(forward, keys):
        shelf.lists[number].append(TermList(held.astype(np.int64) + shelf.size, counts))
    shelf.rids.append(np.array([row[0] for row in rows], np.int64))
    shelf.sets.append(np.array([row[1] for row in rows], np.int32))
    shelf.lengths.append(forward.lengths)
    shelf.occurred.append(np.array([row[3] for row in rows], np.int64))
    shelf.threads.append(np.array([row[4] for row in rows], np.int64))
    shelf.flags.append(forward.flags)
    shelf.size += len(rows)


def _on_pieces(rids: npt.NDArray[np.int64], pieces: Sequence[Piece]) -> Mask:
    seqs = rids >> ROW_BITS
    mask = np.zeros(len(rids), bool)
    for piece in pieces:
        mask |= (seqs >= piece.from_seq) & (seqs <= piece.to_seq)
    return mask


def _visible(
    cursor: psycopg.Cursor,
    context: ReadContext,
    rids: npt.NDArray[np.int64],
    sets: npt.NDArray[np.int32],
) -> Mask:
    """Return which rows the caller may see, rights as they are now, and nothing made gone.

    The same rule as `lineage_sql.visible_rows`, over arrays; a test compares the two.
    """
    seen = ~np.isin(rids, _gone(cursor, context))
    if context.visible is not None:
        if context.amended:
            sets = _amended(cursor, context, rids, sets)
        seen &= np.isin(sets, np.array(context.visible, np.int32))
    return seen


def _gone(cursor: psycopg.Cursor, context: ReadContext) -> npt.NDArray[np.int64]:
    params: dict[str, object] = {"generation": context.generation, "scope_id": context.scope_id}
    condition = lineage_condition("gone", context.lineage, params)
    rows = cursor.execute(
        f"SELECT gone.rid FROM {ddl.SCHEMA}.gone AS gone"
        f" WHERE gone.generation = %(generation)s AND gone.scope_id = %(scope_id)s AND {condition}",
        params,
    ).fetchall()
    return np.array([row[0] for row in rows], np.int64)


def _amended(
    cursor: psycopg.Cursor,
    context: ReadContext,
    rids: npt.NDArray[np.int64],
    sets: npt.NDArray[np.int32],
) -> npt.NDArray[np.int32]:
    rows = cursor.execute(
        f"SELECT rid, acl_set_id FROM {ddl.SCHEMA}.acl_current"
        " WHERE generation = %(generation)s AND scope_id = %(scope_id)s ORDER BY rid",
        {"generation": context.generation, "scope_id": context.scope_id},
    ).fetchall()
    if not rows:
        return sets
    amended = np.array([row[0] for row in rows], np.int64)
    present = np.array([row[1] for row in rows], np.int32)
    places = np.minimum(np.searchsorted(amended, rids), len(amended) - 1)
    return np.where(amended[places] == rids, present[places], sets)


def passages_matching(
    cursor: psycopg.Cursor, context: ReadContext, corpus: Corpus, filters: EpisodeFilters
) -> Mask | None:
    """Return which passages are of episodes that the filters let through; None if all are."""
    conditions = filter_conditions(filters)
    if not conditions:
        return None
    seen = visible_rows(context, "held")
    params = seen.params | {name: value for _, name, value in conditions}
    rows = cursor.execute(
        f"SELECT held.rid FROM {ddl.SCHEMA}.episode_rows AS held WHERE "
        + " AND ".join([seen.sql, *(condition for condition, _, _ in conditions)]),
        params,
    ).fetchall()
    return np.isin(corpus.rids, np.array([row[0] for row in rows], np.int64))


T = TypeVar("T", bound=np.generic)


def _joined(arrays: Sequence[npt.NDArray[T]], kind: type[T]) -> npt.NDArray[T]:
    return np.concatenate(arrays) if arrays else np.zeros(0, kind)
