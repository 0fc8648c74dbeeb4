"""Keeps tables from falling into thousands of small files: runs of them become one.

Files of one size class are rewritten together when there are enough, as in a log-structured
merge tree, so each row is rewritten once a class. Rewriting happens outside every lock; the
swap takes the landing lock for one pointer and gives up if a file is no longer there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import psycopg

from ampup_site.kernel.failpoints import reach
from memory.tables.avro import DataFile
from memory.tables.catalog import TableKey, read_pointers
from memory.tables.files import local_path, whole_or_gone
from memory.tables.rewriting import rewrite
from memory.tables.versions import replace_files
from memory.tables.warehouse import StagedLanding, Warehouse

MIN_FILES: Final = 48
"""Small files of a class that are worth one rewrite: a scan pays about 1 ms for each."""

_CLASS: Final = 32
"""How many times larger the files of the next class are."""

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
    """Rewrite the files of one class of a table as one; None if no class has enough.

    Raises:
        CatalogBehind: the catalog is older than the warehouse; recover it first.
    """
    with warehouse.connected() as connection:
        state = warehouse.checked_state(connection, key)
        chosen = files_to_compact(state.files(), min_files=min_files)
        if not chosen:
            return None
        written = rewrite(warehouse.root, *key, chosen)
        reach("compaction.rewritten")
        if not _swap(connection, warehouse, key, chosen, written):
            warehouse.files.remove([local_path(written.path)])
            return None
    return Compaction(*key, files=len(chosen), rows=written.rows)


def files_to_compact(files: Sequence[DataFile], *, min_files: int) -> list[DataFile]:
    """Return a run of neighbours in age, of the lowest size class that fills one; else none.

    Only neighbours are joined, so files keep the order of landing. Smaller files between those
    of the class go along; what is left alone for its size ends a run.
    """
    classes = {_size_class(file) for file in files if file.size < TARGET_BYTES}
    for size_class in sorted(classes):
        for run in _runs(files, size_class):
            if sum(1 for file in run if _size_class(file) == size_class) >= min_files:
                return run
    return []


def _runs(files: Sequence[DataFile], size_class: int) -> Iterator[list[DataFile]]:
    """Yield the runs of neighbours up to a class, oldest first, each of at most a file's size."""
    run: list[DataFile] = []
    held = 0
    for file in files:
        fits = held + file.size <= TARGET_BYTES
        if run and not (fits and _size_class(file) <= size_class):
            yield run
            run, held = [], 0
        if _size_class(file) <= size_class:
            run.append(file)
            held += file.size
    if run:
        yield run


def _size_class(file: DataFile) -> int:
    size_class, limit = 0, _SMALLEST
    while file.size >= limit:
        size_class, limit = size_class + 1, limit * _CLASS
    return size_class


def _swap(
    connection: psycopg.Connection,
    warehouse: Warehouse,
    key: TableKey,
    old: Sequence[DataFile],
    new: DataFile,
) -> bool:
    """Point the table at a version with the new file instead of the old ones."""
    path = local_path(new.path)
    # Made durable before the lock is taken, so that landings wait for one small file alone.
    with whole_or_gone(path):
        warehouse.files.flush([path])
    # Inside the transaction: once COMMIT was asked for, the file may be the table's.
    with connection.transaction(), whole_or_gone(path):
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (warehouse.lock_key,))
        state = warehouse.state(key, read_pointers(connection, [key[0]]))
        staged = replace_files(state, old, [new], summary={}, now=warehouse.clock.now())
        if staged is None:
            return False
        warehouse.make_durable([staged], [])
        warehouse.swap(connection, StagedLanding((staged,)))
        reach("compaction.swapped")
    warehouse.keep(staged.after)
    reach("compaction.committed")
    return True
