"""Reads where a query's terms stand: folded segments, and the tail of what landed since.

A segment holds the passages of a branch of a scope that follow one another, inverted: one row of
`segments` with an array a column, and one row of `postings` a term. Numbers of passages count up
through a branch of a generation, so lists and arrays of neighbours are joined end to end. What
landed since the last fold is read from the passages' own columns.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import psycopg

from memory.domain.lineage import Piece
from memory.domain.neighbours import Neighbours, Places, in_thread_order
from memory.domain.postings import ASSISTANT, listed, lists_of, term_key, unpack
from memory.domain.ranking import Corpus, Mask, TermList
from memory.domain.read_context import ReadContext
from memory.domain.weights import term_weight
from memory.search import ddl
from memory.search.episodes import EpisodeFilters, filter_conditions
from memory.search.kept_segments import NOTHING, Arrays, Folded, folded_segments, joined
from memory.search.lineage_sql import lineage_condition, visible_rows
from memory.search.rows import ROW_BITS

_POSTINGS: Final = f"""
SELECT term, numbers, counts FROM {ddl.SCHEMA}.postings
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


class _Lists:
    """The lists of the query's terms, each in parts that follow one another."""

    def __init__(self, terms: Sequence[str]) -> None:
        self._terms = terms
        self.keys = [term_key(term) for term in terms]
        self._numbers = {key: number for number, key in enumerate(self.keys)}
        self._parts: defaultdict[int, list[tuple[Places, npt.NDArray[np.uint8]]]] = defaultdict(
            list
        )

    def add(
        self, key: int, places: npt.NDArray[np.uint32], counts: npt.NDArray[np.uint8], base: int
    ) -> None:
        """Add a part whose places count from `base`."""
        self._parts[self._numbers[key]].append((places.astype(np.int64) + base, counts))

    def whole(self) -> list[TermList]:
        """Return the lists in the order of the terms; one that stands nowhere has none."""
        return [
            TermList(
                np.concatenate([places for places, _ in parts]),
                np.concatenate([counts for _, counts in parts]),
                term_weight(self._terms[number]),
            )
            for number, parts in sorted(self._parts.items())
        ]

    def missing(self) -> float:
        """Return the weights of the terms that stand nowhere, added up."""
        return sum(
            term_weight(term)
            for number, term in enumerate(self._terms)
            if number not in self._parts
        )


def read_corpus(cursor: psycopg.Cursor, context: ReadContext, terms: Sequence[str]) -> Corpus:
    """Read what ranking the terms needs; the cursor's transaction is one snapshot."""
    lists = _Lists(terms)
    branches: dict[int, list[Piece]] = defaultdict(list)
    for piece in context.lineage:
        branches[piece.branch_id].append(piece)
    parts: list[Arrays] = []
    on_lineage: list[Mask] = []
    order: Places | None = None
    for branch_id, pieces in branches.items():
        place: dict[str, object] = {
            "generation": context.generation,
            "scope_id": context.scope_id,
            "branch": branch_id,
        }
        folded = folded_segments(cursor, place)
        base = sum(part.size for part in parts)
        _read_lists(cursor, place, folded, lists, base)
        end = (max(piece.to_seq for piece in pieces) + 1) << ROW_BITS
        after = place | {"after": folded.to_rid, "end": end}
        tail = _read_tail(cursor, after, lists, base + folded.arrays.size)
        parts += [folded.arrays, tail]
        on_lineage += [_on_pieces(part.rids, pieces) for part in (folded.arrays, tail)]
        order = with_tail(folded, tail) if len(branches) == 1 else None
    arrays = joined([part for part in parts if part.size] or [NOTHING])
    if order is None:
        order = in_thread_order(arrays.threads, arrays.occurred)
    seen = _visible(cursor, context, arrays.rids, arrays.sets)
    if on_lineage:
        seen &= np.concatenate(on_lineage)
    return Corpus(
        rids=arrays.rids,
        lengths=arrays.lengths,
        seen=seen,
        lists=lists.whole(),
        missing=lists.missing(),
        occurred=arrays.occurred,
        assistant=arrays.flags & ASSISTANT != 0,
        neighbours=Neighbours.among(order, seen, threads=arrays.threads, occurred=arrays.occurred),
    )


def _read_lists(
    cursor: psycopg.Cursor, place: dict[str, object], folded: Folded, lists: _Lists, base: int
) -> None:
    """Take the lists of a branch's segments, whose numbers count through them."""
    if not folded.segments:
        return
    wanted = place | {"segments": list(folded.segments), "terms": lists.keys}
    for key, numbers, counts in cursor.execute(_POSTINGS, wanted):
        lists.add(key, *listed(numbers, counts), base)


def _read_tail(
    cursor: psycopg.Cursor, place: dict[str, object], lists: _Lists, base: int
) -> Arrays:
    rows = cursor.execute(_TAIL, place).fetchall()
    if not rows:
        return NOTHING
    forward = unpack([row[2] for row in rows])
    for number, held, counts in lists_of(forward, lists.keys):
        lists.add(lists.keys[number], held, counts, base)
    return Arrays(
        rids=np.array([row[0] for row in rows], np.int64),
        sets=np.array([row[1] for row in rows], np.int32),
        lengths=forward.lengths,
        occurred=np.array([row[3] for row in rows], np.int64),
        threads=np.array([row[4] for row in rows], np.int64),
        flags=forward.flags,
    )


def with_tail(folded: Folded, tail: Arrays) -> Places:
    """Return the order by thread and time of both: only threads that go on are ordered anew."""
    if not tail.size:
        return folded.order
    threads = np.concatenate((folded.arrays.threads, tail.threads))
    goes_on = np.isin(folded.arrays.threads[folded.order], tail.threads)
    fresh = np.arange(folded.arrays.size, len(threads))
    anew = np.concatenate((np.sort(folded.order[goes_on]), fresh))
    occurred = np.concatenate((folded.arrays.occurred, tail.occurred))
    ordered = anew[in_thread_order(threads[anew], occurred[anew])]
    return np.concatenate((folded.order[~goes_on], ordered))


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
