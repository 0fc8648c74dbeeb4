"""Keeps tables from falling into thousands of small files: runs of them become one.

Files of one size class are rewritten together when there are enough, as in a log-structured
merge tree, so each row is rewritten once a class. Rewriting happens outside every lock; the
swap takes the landing lock for one pointer and gives up if a file is no longer there.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

from ampup_site.kernel.failpoints import reach
from memory.tables.avro import DataFile
from memory.tables.catalog import TableKey, read_pointers
from memory.tables.encode import write_rows
from memory.tables.files import local_path
from memory.tables.state import TableState, replace_files
from memory.tables.warehouse import Warehouse

MIN_FILES: Final = 48
"""Small files of a class that are worth one rewrite: a scan pays about 1 ms for each."""

_CLASS: Final = 32
_SMALLEST: Final = 256 * 2**10
TARGET_BYTES: Final = 128 * 2**20
"""Files of this size are left alone.  Source: storage design, section 8."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a compaction did to a table."""

    namespace: str
    table: str
    files: int
    rows: int


def compact(
    warehouse: Warehouse, key: TableKey, *, min_files: int = MIN_FILES
) -> Compaction | None:
    """Rewrite the files of one class of a table as one; None if no class has enough."""
    with warehouse.connected() as connection:
        pointers = read_pointers(connection, [key[0]])
        state = warehouse.state(key, pointers)
        chosen = files_to_compact(state.files(), min_files=min_files)
        if not chosen:
            return None
        rows = pa.concat_tables(
            [pq.read_table(local_path(file.path), partitioning=None) for file in chosen],
            promote_options="default",
        )
        written = write_rows(warehouse.root, *key, rows)
        reach("compaction.rewritten")
        if not _swap(connection, warehouse, key, chosen, written):
            warehouse.files.remove([local_path(written.path)])
            return None
    return Compaction(*key, files=len(chosen), rows=rows.num_rows)


def files_to_compact(files: Sequence[DataFile], *, min_files: int) -> list[DataFile]:
    """Return the oldest run of the lowest size class that has enough files, in order of age."""
    classes: dict[int, list[DataFile]] = defaultdict(list)
    for file in files:
        size_class, limit = 0, _SMALLEST
        while file.size >= limit:
            size_class, limit = size_class + 1, limit * _CLASS
        if file.size < TARGET_BYTES:
            classes[size_class].append(file)
    for size_class in sorted(classes):
        held = classes[size_class]
        if len(held) < min_files:
            continue
        chosen: list[DataFile] = []
        size = 0
        for file in held:
            if chosen and size + file.size > TARGET_BYTES:
                break
            chosen.append(file)
            size += file.size
        if len(chosen) > 1:
            return chosen
    return []


def _swap(
    connection: psycopg.Connection,
    warehouse: Warehouse,
    key: TableKey,
    old: Sequence[DataFile],
    new: DataFile,
) -> bool:
    """Point the table at a version with the new file instead of the old ones."""
    # Made durable before the lock is taken, so that landings wait for one small file alone.
    warehouse.files.flush([local_path(new.path)])
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (warehouse.lock_key,))
        state = warehouse.state(key, read_pointers(connection, [key[0]]))
        staged = replace_files(state, old, [new], summary={}, now=warehouse.clock.now())
        if staged is None:
            return False
        warehouse.make_durable([staged], [])
        warehouse.point(connection, staged)
        reach("compaction.swapped")
    warehouse.keep(staged.after)
    reach("compaction.committed")
    return True


def small_files(state: TableState) -> int:
    """Return how many files of a table are of the smallest class."""
    return sum(1 for file in state.files() if file.size < _SMALLEST)
