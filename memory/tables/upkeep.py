"""Removes what nothing refers to any more: old metadata, files of lost tries, in two steps.

A first look writes down when a file was first seen unreachable; a later one, once the grace is
over, removes it if it still is. By a file's own age alone, a reader that opened the present
version would lose an old data file the moment a compaction replaced it.

Blobs that no row names go the same way, the last look at them under the landing lock.

For the others no lock is taken. A version refers to files of the version before and to new ones
only, so what is old and unreachable stays so, and landings need not wait for a folder to be read.

Nothing is removed while the catalog is older than the warehouse, of this table or of the ledger:
what looks unreachable may be acknowledged history then.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

import psycopg

from ampup_site.kernel.clock import Micros
from ampup_site.kernel.failpoints import reach
from memory.tables.avro import read_list
from memory.tables.blobs import BODIES, blob_files, is_blob, named_blobs, remove_blobs
from memory.tables.catalog import TableKey
from memory.tables.files import local_path
from memory.tables.state import TableState
from memory.tables.unreachable import forget_seen, note_seen
from memory.tables.warehouse import Warehouse

METADATA_AGE: Final = Micros(600_000_000)
"""Metadata stays 10 minutes after it stopped being current: outside readers may hold it."""

DATA_AGE: Final = Micros(24 * 3_600_000_000)
"""Data files stay a day: longer than any scan or landing."""


@dataclass(frozen=True, slots=True)
class Removal:
    """What a removal took from a table, and how many files wait for their grace to end."""

    namespace: str
    table: str
    files: int
    bytes: int
    waiting: int = 0


def remove_unreachable(
    warehouse: Warehouse,
    key: TableKey,
    *,
    data_age: Micros = DATA_AGE,
    metadata_age: Micros = METADATA_AGE,
) -> Removal:
    """Note a table's files that no kept version reaches, and remove those noted long enough ago.

    Raises:
        CatalogBehind: the catalog is older than the warehouse; recover it first.
    """

    def grace(path: Path) -> Micros:
        return metadata_age if path.parent.name == "metadata" else data_age

    with warehouse.connected() as connection:
        now = warehouse.clock.now()
        # Too young to judge: a landing may be about to refer to them.
        old = {
            path
            for path, written in _files(warehouse.root / key[0] / key[1])
            if now - written >= (data_age if is_blob(path) else metadata_age)
        }
        candidates = _unreached(connection, warehouse, key, old)
        seen = note_seen(connection, key, candidates, now=now)
        reach("expiry.planned")
        doomed = {path for path, at in seen.items() if now - at >= grace(path)}
        blobs = {path for path in doomed if is_blob(path)}
        # The second look: the catalog may have been put back while the first one was written.
        gone = _remove_files(_unreached(connection, warehouse, key, doomed - blobs))
        if blobs:
            before = Micros(now - data_age)
            gone += remove_blobs(connection, warehouse, key, blobs, before=before)
        forget_seen(connection, key, doomed)
    size = sum(size for _, size in gone)
    return Removal(*key, files=len(gone), bytes=size, waiting=len(candidates) - len(doomed))


def _unreached(
    connection: psycopg.Connection, warehouse: Warehouse, key: TableKey, paths: set[Path]
) -> set[Path]:
    """Return those of a table's files that nothing reaches as the catalog is now."""
    state = warehouse.checked_state(connection, key)
    unreached = paths - reachable_files(state)
    if any(is_blob(path) for path in unreached):
        unreached -= named_blobs(state, root=warehouse.root)
    return unreached


def _remove_files(doomed: set[Path]) -> list[tuple[Path, int]]:
    """Remove files; return those that were there, with their sizes."""
    gone = []
    for path in sorted(doomed):
        if path.exists():
            gone.append((path, path.stat().st_size))
            path.unlink(missing_ok=True)
        reach("expiry.deleting")
    return gone


def reachable_files(state: TableState) -> set[Path]:
    """Return every file a kept snapshot of a version reaches, and the metadata it lists."""
    reachable: set[Path] = set()
    if state.location is not None:
        reachable.add(local_path(state.location))
    for past in state.metadata["metadata-log"]:
        reachable.add(local_path(past["metadata-file"]))
    for snapshot in state.metadata["snapshots"]:
        list_path = local_path(snapshot["manifest-list"])
        reachable.add(list_path)
        for manifest in read_list(list_path.read_bytes()):
            path = local_path(manifest.path)
            if path not in reachable:
                reachable.add(path)
                reachable.update(local_path(file.path) for file in state.files_of(manifest))
    return reachable


def _files(folder: Path) -> Iterator[tuple[Path, int]]:
    kinds: list[Iterator[Path]] = [(folder / part).glob("*") for part in ("data", "metadata")]
    if folder.name == BODIES:
        kinds.append(blob_files(folder))
    for path in chain.from_iterable(kinds):
        with suppress(FileNotFoundError):  # a draft that has got its name since it was listed
            yield path, path.stat().st_mtime_ns // 1000
