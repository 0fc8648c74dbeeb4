"""The arrays of folded segments, kept by the process: what every query of a scope reads again.

A segment never changes, and Postgres names each version of a row anew (table, transaction and
place), so what is kept under that name is what a read of the row would return. Whether a caller may
see a passage is not kept: that is looked at for every query.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import psycopg

from memory.domain.neighbours import Places, in_thread_order
from memory.domain.postings import FIELDS
from memory.search import ddl

_MOST_BYTES: Final = 64 * 2**20
"""Of all that is kept: some 1.4 million passages."""

_VERSIONS: Final = f"""
SELECT segment, to_rid, tableoid::bigint, xmin::text::bigint, ctid::text
FROM {ddl.SCHEMA}.segments
WHERE generation = %(generation)s AND scope_id = %(scope_id)s AND branch_id = %(branch)s
ORDER BY segment
"""
_ARRAYS: Final = f"""
SELECT rids, acl_sets, lengths, occurred, threads, flags FROM {ddl.SCHEMA}.segments
WHERE generation = %(generation)s AND scope_id = %(scope_id)s AND branch_id = %(branch)s
ORDER BY segment
"""


@dataclass(frozen=True, slots=True)
class Arrays:
    """Columns of passages that follow one another.

    Args:
        lengths: of shape (passages, fields).
    """

    rids: npt.NDArray[np.int64]
    sets: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.uint32]
    occurred: npt.NDArray[np.int64]
    threads: npt.NDArray[np.int64]
    flags: npt.NDArray[np.uint8]

    @property
    def size(self) -> int:
        """Return how many passages there are."""
        return len(self.rids)


NOTHING: Final = Arrays(
    np.zeros(0, np.int64),
    np.zeros(0, np.int32),
    np.zeros((0, FIELDS), np.uint32),
    np.zeros(0, np.int64),
    np.zeros(0, np.int64),
    np.zeros(0, np.uint8),
)


def joined(parts: Sequence[Arrays]) -> Arrays:
    """Put arrays end to end."""
    if len(parts) == 1:
        return parts[0]
    return Arrays(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("rids", "sets", "lengths", "occurred", "threads", "flags")
        )
    )


@dataclass(frozen=True, slots=True)
class Folded:
    """The segments of a branch.

    Args:
        segments: their numbers.
        to_rid: the last row in them.
        order: the places by thread and time.
    """

    segments: Sequence[int]
    to_rid: int
    arrays: Arrays
    order: Places

    @property
    def bytes(self) -> int:
        """Return about how much memory they take."""
        return self.arrays.size * (8 + 4 + 4 * FIELDS + 8 + 8 + 1 + 8)


_Versions: TypeAlias = tuple[tuple[object, ...], ...]
_kept: Final[OrderedDict[_Versions, Folded]] = OrderedDict()
_lock: Final = threading.Lock()
_NO_SEGMENTS: Final = Folded((), 0, NOTHING, np.zeros(0, np.int64))


def folded_segments(cursor: psycopg.Cursor, place: dict[str, object]) -> Folded:
    """Return the segments of a branch as the cursor's snapshot has them."""
    rows = cursor.execute(_VERSIONS, place).fetchall()
    if not rows:
        return _NO_SEGMENTS
    versions = tuple(tuple(row[2:]) for row in rows)
    with _lock:
        held = _kept.get(versions)
        if held is not None:
            _kept.move_to_end(versions)
            return held
    arrays = _read(cursor, place)
    order = in_thread_order(arrays.threads, arrays.occurred)
    folded = Folded([row[0] for row in rows], rows[-1][1], arrays, order)
    with _lock:
        _kept[versions] = folded
        while len(_kept) > 1 and sum(one.bytes for one in _kept.values()) > _MOST_BYTES:
            _kept.popitem(last=False)
    return folded


def _read(cursor: psycopg.Cursor, place: dict[str, object]) -> Arrays:
    columns = zip(*cursor.execute(_ARRAYS, place).fetchall(), strict=True)
    rids, sets, lengths, occurred, threads, flags = (b"".join(column) for column in columns)
    return Arrays(
        rids=np.frombuffer(rids, "<i8"),
        sets=np.frombuffer(sets, "<i4"),
        lengths=np.frombuffer(lengths, "<u4").reshape(-1, FIELDS),
        occurred=np.frombuffer(occurred, "<i8"),
        threads=np.frombuffer(threads, "<i8"),
        flags=np.frombuffer(flags, "u1"),
    )
