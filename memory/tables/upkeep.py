"""Removes what nothing refers to any more: old metadata by age, files of lost tries, in two steps.

A file is removed only if it was unreachable and old at a first look and still is at a second,
under the landing lock. Nothing is removed while a metadata file on disk is newer than the
catalog says by more than one version: then the catalog is an older backup, and what looks
unreachable may be acknowledged history.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ampup_site.kernel.clock import Micros
from ampup_site.kernel.failpoints import reach
from memory.domain.errors import CatalogBehind
from memory.tables.avro import read_list, read_manifest
from memory.tables.catalog import TableKey, read_pointers
from memory.tables.files import local_path
from memory.tables.state import TableState, version_of
from memory.tables.warehouse import Warehouse

METADATA_AGE: Final = Micros(600_000_000)
"""Metadata stays 10 minutes after it stopped being current: outside readers may hold it."""

DATA_AGE: Final = Micros(24 * 3_600_000_000)
"""Data files stay a day: longer than any scan or landing."""


@dataclass(frozen=True, slots=True)
class Removal:
    """What upkeep removed from a table."""

    namespace: str
    table: str
    files: int
    bytes: int


def remove_unreachable(
    warehouse: Warehouse,
    key: TableKey,
    *,
    data_age: Micros = DATA_AGE,
    metadata_age: Micros = METADATA_AGE,
) -> Removal:
    """Remove a table's files that no kept version reaches and that are old enough.

    Raises:
        CatalogBehind: the catalog is older than the warehouse; recover it first.
    """
    with warehouse.connected() as connection:
        state = warehouse.state(key, read_pointers(connection, [key[0]]))
        candidates = _candidates(warehouse, state, data_age=data_age, metadata_age=metadata_age)
        reach("expiry.planned")
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (warehouse.lock_key,))
            state = warehouse.state(key, read_pointers(connection, [key[0]]))
            doomed = candidates - reachable_files(state)
        size = sum(path.stat().st_size for path in doomed if path.exists())
        for path in sorted(doomed):
            path.unlink(missing_ok=True)
            reach("expiry.deleting")
    return Removal(*key, files=len(doomed), bytes=size)


def check_catalog(state: TableState) -> None:
    """Refuse upkeep of a table whose folder holds versions the catalog knows nothing of.

    One version more is what a landing leaves that died before its commit.
    """
    newest = max(
        (version_of(path.name) for path in (state.folder / "metadata").glob("*.metadata.json")),
        default=state.version,
    )
    if newest > state.version + 1:
        message = (
            f"The warehouse holds version {newest} of {state.namespace}.{state.table} and the"
            f" catalog knows {state.version}: it is an older backup. Nothing was removed."
        )
        raise CatalogBehind(message)


def reachable_files(state: TableState) -> set[Path]:
    """Return every file a kept snapshot of the present version reaches, and recent metadata."""
    reachable: set[Path] = set()
    if state.location is not None:
        reachable.add(local_path(state.location))
    for snapshot in state.metadata["snapshots"]:
        list_path = local_path(snapshot["manifest-list"])
        reachable.add(list_path)
        for manifest in read_list(list_path.read_bytes()):
            path = local_path(manifest.path)
            reachable.add(path)
            files = state.entries.get(manifest.path) or read_manifest(path.read_bytes(), manifest)
            reachable.update(local_path(file.path) for file in files)
    for past in state.metadata["metadata-log"]:
        reachable.add(local_path(past["metadata-file"]))
    return reachable


def _candidates(
    warehouse: Warehouse, state: TableState, *, data_age: Micros, metadata_age: Micros
) -> set[Path]:
    check_catalog(state)
    now = warehouse.clock.now()
    old = {
        path
        for path, modified in _files(state.folder)
        if now - modified > (data_age if path.parent.name == "data" else metadata_age)
    }
    return old - reachable_files(state)


def _files(folder: Path) -> Iterator[tuple[Path, int]]:
    for part in ("data", "metadata"):
        for path in (folder / part).glob("*"):
            yield path, path.stat().st_mtime_ns // 1000
