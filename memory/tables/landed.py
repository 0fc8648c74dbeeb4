"""Which versions of the tables have landed, told by the files of the warehouse alone.

A version is staged on what the catalog names, so the log in a version proves the ones before it.
The newest of the ledger's versions is proved by nobody: it counts as landed if it is whole and
the rows of its newest landing are in the data tables, as hashed. Either its landing committed,
or the server died between the flush and the COMMIT and its callers were told nothing. A landing
that was refused took its data files with it, and one that others have landed past lies beside
the newest; neither counts. A data table's version has landed if the ledger holds its landing.

Source: storage design, section 9.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import orjson
import psycopg

from ampup_site.kernel.errors import AmpUpError
from memory.domain.errors import DamagedTable
from memory.tables import reading
from memory.tables.catalog import TableKey
from memory.tables.files import local_path, location
from memory.tables.layouts import LEDGER_NAMESPACE, SCOPE_TABLES
from memory.tables.state import version_of
from memory.tables.verify import payload_faults
from memory.tables.warehouse import LEDGER_KEY, Warehouse


@dataclass(frozen=True, slots=True)
class Landed:
    """The newest versions that have landed.

    Args:
        pointers: where their metadata is.
        seq: the newest commit; 0 if there is no ledger.
        unproved: commits of the last landing, if no later version proves that it committed.
        left_out: the ledger's staged versions that did not count, each with the reason.
    """

    pointers: Mapping[TableKey, str]
    seq: int
    unproved: int
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """A metadata file.

    Args:
        updated: milliseconds since the epoch.
        first_seq, seq: the commits of the landing that made it, or made what it rewrote.
        rewrites: whether it holds the rows of the version before and no others.
        log: versions before it, by their place.
        readable: False for one that a crash tore; then nothing else is known of it.
    """

    at: str
    updated: int = 0
    batch_id: str = ""
    first_seq: int = 0
    seq: int = 0
    rewrites: bool = False
    log: frozenset[str] = frozenset()
    readable: bool = False


def find_landed(
    warehouse: Warehouse, known: Mapping[TableKey, str], *, leave_unproved: bool = False
) -> Landed:
    """Return what has landed.

    Args:
        known: what a catalog names, as old as it may be; that has landed for sure.
        leave_unproved: leave out a last landing that may never have been acknowledged.

    Raises:
        DamagedTable: what has landed is not whole.
    """
    proved = set(known.values())
    left_out: list[str] = []
    book = list(versions(warehouse.root.joinpath(*LEDGER_KEY)))
    standing = Counter(version_of(version.at) for version in book)
    for version in book:
        number = version_of(version.at)
        # A higher one was staged on what had landed, also if what it says is torn.
        alone = standing[number] == 1 and bool(standing[number + 1])
        landed = version.at in proved or alone
        if leave_unproved and not landed:
            left_out.append(f"{_name(version.at)}: no later version proves that it landed")
        else:
            try:
                pointers = _fitting(warehouse, known, version)
            except DamagedTable as damage:
                if landed:
                    raise
                left_out.append(f"{_name(version.at)}: {damage.message}")
            else:
                fresh = version.seq - version.first_seq + 1
                unproved = 0 if landed or version.rewrites else fresh
                return Landed(pointers, version.seq, unproved, tuple(left_out))
        proved |= version.log
    return Landed({}, 0, 0, tuple(left_out))


def versions(folder: Path) -> Iterator[Version]:
    """Yield the versions of a table, the newest first; of equals the one staged last.

    At most one of equals has landed, and the later ones were staged only if it has not.
    """

    def number(path: Path) -> int:
        return version_of(path.name)

    paths = sorted((folder / "metadata").glob("*.metadata.json"), key=number, reverse=True)
    for _, equals in groupby(paths, key=number):
        staged = [read_version(path) for path in equals]
        yield from sorted(staged, key=lambda each: (each.updated, each.seq), reverse=True)


def read_version(path: Path) -> Version:
    """Return what a metadata file says of itself."""
    try:
        metadata = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return Version(location(path))
    present = metadata["current-snapshot-id"]
    summary: dict[str, str] = next(
        (held["summary"] for held in metadata["snapshots"] if held["snapshot-id"] == present), {}
    )
    return Version(
        at=location(path),
        updated=int(metadata["last-updated-ms"]),
        batch_id=summary.get("memory.batch-id", ""),
        first_seq=int(summary.get("memory.seq-min", 0)),
        seq=int(summary.get("memory.seq-max", 0)),
        rewrites=summary.get("operation") == "replace",
        log=frozenset(held["metadata-file"] for held in metadata["metadata-log"]),
        readable=True,
    )


def _fitting(
    warehouse: Warehouse, known: Mapping[TableKey, str], book: Version
) -> dict[TableKey, str]:
    """Return the versions of all tables that belong to a version of the ledger.

    Raises:
        DamagedTable: one of them is not whole, or does not hold what the ledger says.
    """
    pointers = {LEDGER_KEY: book.at}
    _check_whole(warehouse, LEDGER_KEY, book)
    with _told_as_damage(f"{_name(book.at)} of the ledger"):
        batches = reading.batch_ids(warehouse, pointers)

        def belongs(version: Version) -> bool:
            reached = 0 < version.seq <= len(batches)
            return reached and version.batch_id == batches[version.seq - 1]

        _check_history(book, belongs, known=known.get(LEDGER_KEY), commits=len(batches))
        for key in tables_of(warehouse.root):
            version = _newest(warehouse, key, known.get(key), belongs)
            if version is not None:
                pointers[key] = version.at
        newest = reading.ledger_rows(warehouse, from_seq=max(book.first_seq, 1), pointers=pointers)
        faults = payload_faults(warehouse, list(newest), pointers=pointers).faults
    if faults:
        raise DamagedTable(faults[0])
    return pointers


def _check_history(
    book: Version, belongs: Callable[[Version], bool], *, known: str | None, commits: int
) -> None:
    """Refuse a ledger that is shorter than it says, or that leaves out what a catalog names.

    Raises:
        DamagedTable: it is so; writes on an older catalog, say, made a second history.
    """
    if commits != book.seq:
        message = f"the ledger says it reaches {book.seq} and holds {commits} commits"
        raise DamagedTable(message)
    held = read_version(local_path(known)) if known is not None else None
    if held is not None and held.seq and not belongs(held):
        message = f"{_name(book.at)} of the ledger is another history than the catalog's"
        raise DamagedTable(message)


def _newest(
    warehouse: Warehouse, key: TableKey, known: str | None, belongs: Callable[[Version], bool]
) -> Version | None:
    """Return the newest landed version of a data table; None if it has none.

    Raises:
        DamagedTable: it is not whole, or the ledger does not reach to it.
    """
    proved = {known}
    for version in versions(warehouse.root.joinpath(*key)):
        if belongs(version):
            try:
                _check_whole(warehouse, key, version)
            except DamagedTable:
                # A rewriting that died holds no row that the version before does not.
                if version.at in proved or not version.rewrites:
                    raise
            else:
                return version
        elif version.at in proved:
            message = f"the ledger does not reach to {_name(version.at)} of {'.'.join(key)}"
            raise DamagedTable(message)
        proved |= version.log
    return None


def tables_of(root: Path) -> list[TableKey]:
    """Return the data tables that have a folder in the warehouse."""
    return sorted(
        (folder.parent.parent.name, folder.parent.name)
        for folder in root.glob("*/*/metadata")
        if folder.parent.name in SCOPE_TABLES and folder.parent.parent.name != LEDGER_NAMESPACE
    )


def _check_whole(warehouse: Warehouse, key: TableKey, version: Version) -> None:
    """Look for every file that a version's present snapshot reaches.

    Raises:
        DamagedTable: one is missing or torn.
    """
    name = f"{_name(version.at)} of {'.'.join(key)}"
    if not version.readable:
        message = f"{name} cannot be read"
        raise DamagedTable(message)
    with _told_as_damage(name):
        for file in warehouse.state(key, {key: version.at}).files():
            path = local_path(file.path)
            if path.stat().st_size != file.size:
                message = f"{name} is not whole: {path.name} is torn"
                raise DamagedTable(message)


@contextmanager
def _told_as_damage(name: str) -> Iterator[None]:
    """Say whatever reading a torn file raises, Avro's, Arrow's or the disk's, as damage."""
    try:
        yield
    except (AmpUpError, psycopg.Error):
        raise
    except Exception as error:
        message = f"{name} is not whole: {type(error).__name__}"
        raise DamagedTable(message) from error


def _name(at: str) -> str:
    return f"version {version_of(at)}"
