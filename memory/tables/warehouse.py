"""The warehouse: all Iceberg tables of one server, appended to in landings, read by commit.

Thread-safe. The states of tables are cached under the location of their metadata, so a state
is never stale: what moved is read again, what did not costs nothing.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from zlib import crc32

import psycopg

from ampup_site.kernel.clock import Clock, Micros, SystemClock
from ampup_site.kernel.failpoints import reach
from memory.domain.errors import LedgerConflict, StorageUnavailable
from memory.domain.records import LedgerRecord
from memory.tables.avro import DataFile
from memory.tables.catalog import (
    CATALOG,
    Move,
    TableKey,
    ensure_catalog,
    move_pointers,
    namespaces_of,
    read_pointers,
)
from memory.tables.encode import EncodedPart, ScopePart, data_folder, write_records
from memory.tables.files import Files, local_path, whole_or_gone
from memory.tables.layouts import LAYOUTS, LEDGER, LEDGER_NAMESPACE, SCOPE_TABLES
from memory.tables.state import TableState, check_catalog, load_table, new_table, newest_version
from memory.tables.versions import StagedTable, append

LEDGER_KEY: Final = (LEDGER_NAMESPACE, LEDGER)
_CACHED: Final = 2_000
"""Table states kept open: about 40 KB each."""

_REST: Final = 60_000_000
"""Microseconds a table waits whose compaction failed."""


@dataclass(frozen=True, slots=True)
class StagedLanding:
    """The next versions of the touched tables, durable and not yet pointed at; ledger last."""

    tables: tuple[StagedTable, ...]


class Warehouse:
    """A folder of tables and the catalog rows that point at them.

    Args:
        root: the folder; made where it is missing.
        dsn: libpq URL of the catalog's Postgres.
    """

    def __init__(self, *, root: Path, dsn: str, clock: Clock | None = None) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root = root.resolve()
        self.files = Files(self.root)
        self.lock_key = crc32(f"{CATALOG}:{self.root}".encode())
        self.clock: Clock = clock or SystemClock()
        self._dsn = dsn
        self._states: OrderedDict[TableKey, TableState] = OrderedDict()
        self._lock = threading.Lock()
        self._grown: Counter[TableKey] = Counter()
        self._book_version: int | None = None
        self._resting: dict[TableKey, Micros] = {}
        with self.connected() as connection:
            ensure_catalog(connection)

    @contextmanager
    def connected(self) -> Iterator[psycopg.Connection]:
        """Lend a connection to the catalog, for reads and for upkeep."""
        with psycopg.connect(
            self._dsn, autocommit=True, application_name="ampup tables", connect_timeout=10
        ) as connection:
            yield connection

    def close(self) -> None:
        """Let the threads that write and flush files go."""
        self.files.close()

    def encode(self, part: ScopePart) -> EncodedPart:
        """Write a scope's data files; needs no lock and nothing of the tables' state."""
        files: dict[str, DataFile] = {}
        try:
            for table, rows in part.tables():
                files[table] = write_records(self.root, part.namespace, table, rows)
        except BaseException:
            self.discard([EncodedPart(part.namespace, files)])
            raise
        blobs = tuple(body.blob for body in part.bodies if body.blob is not None)
        return EncodedPart(part.namespace, files, blobs)

    def stage(
        self,
        connection: psycopg.Connection,
        parts: Sequence[EncodedPart],
        ledger: Sequence[LedgerRecord],
        *,
        batch_id: str,
    ) -> StagedLanding:
        """Write and flush the next version of each touched table, under the landing lock.

        Raises:
            CatalogBehind: the catalog is older than the warehouse; it must be recovered first.
            LedgerConflict: the ledger's table does not stand where the first row says.
            StorageUnavailable: a long body is gone that a row names; it must be sent again.
        """
        self._check_blobs(parts)
        namespaces = {part.namespace for part in parts} | {LEDGER_NAMESPACE}
        pointers = read_pointers(connection, namespaces)
        book = self.state(LEDGER_KEY, pointers)
        self._check_book(book)
        if ledger_seq_of(book) != ledger[0].seq - 1:
            message = "The ledger table and the index head disagree."
            raise LedgerConflict(message)
        summary = {
            "memory.batch-id": batch_id,
            "memory.seq-min": str(ledger[0].seq),
            "memory.seq-max": str(ledger[-1].seq),
            "memory.ledger-head": ledger[0].prev_hash,
        }
        now = self.clock.now()
        touched = [
            (self.state((part.namespace, table), pointers), file)
            for part in parts
            for table, file in part.files.items()
        ]
        rows = write_records(self.root, *LEDGER_KEY, ledger)
        staged = [
            append(state, [file], summary=summary, now=now)
            for state, file in [*touched, (book, rows)]
        ]
        with whole_or_gone(local_path(rows.path)):
            self.make_durable(staged, [file.path for _, file in touched] + [rows.path])
        return StagedLanding(tuple(staged))

    def swap(self, connection: psycopg.Connection, staged: StagedLanding) -> None:
        """Point the tables at their next versions, all in one statement.

        Raises:
            LedgerConflict: a pointer was moved outside the landing lock.
        """
        move_pointers(
            connection,
            [
                Move(
                    (table.after.namespace, table.after.table),
                    before=table.before.location,
                    after=str(table.after.location),
                )
                for table in staged.tables
            ],
        )

    def adopt(self, staged: StagedLanding) -> None:
        """Keep the new states: the landing has committed."""
        for table in staged.tables:
            self.keep(table.after)
        with self._lock:
            self._grown.update(
                (table.after.namespace, table.after.table) for table in staged.tables
            )

    def take_grown(self, *, files: int) -> Iterator[TableKey]:
        """Yield the tables that got so many files from this process since they were taken.

        A table whose taker fails, and with it those behind it, keep their turn; it itself rests
        for a minute, so that it holds up no other.
        """
        now = self.clock.now()
        with self._lock:
            grown = [
                (key, count)
                for key, count in self._grown.items()
                if count >= files and self._resting.get(key, now) <= now
            ]
        for key, count in grown:
            with self._lock:
                self._resting[key] = Micros(now + _REST)
            yield key
            with self._lock:
                self._grown[key] -= count
                self._resting.pop(key, None)

    def discard(self, parts: Sequence[EncodedPart]) -> None:
        """Remove data files that no landing will refer to."""
        self.files.remove(local_path(file.path) for part in parts for file in part.files.values())

    def keep(self, state: TableState) -> None:
        """Remember a state, dropping the one that was used least lately when there are many."""
        key = (state.namespace, state.table)
        with self._lock:
            self._states[key] = state
            self._states.move_to_end(key)
            while len(self._states) > _CACHED:
                self._states.popitem(last=False)

    def state(self, key: TableKey, pointers: Mapping[TableKey, str]) -> TableState:
        """Return a table's state at its pointer, from memory if it has not moved."""
        namespace, table = key
        folder = self._folder(namespace, table)
        layout = LAYOUTS[table]
        at = pointers.get(key)
        if at is None:
            return new_table(namespace, table, folder=folder, layout=layout)
        with self._lock:
            held = self._states.get(key)
        if held is not None and held.location == at:
            return held
        state = load_table(namespace, table, folder=folder, layout=layout, at=at, before=held)
        self.keep(state)
        return state

    def _folder(self, namespace: str, table: str) -> Path:
        return data_folder(self.root, namespace=namespace, table=table)

    def checked_state(self, connection: psycopg.Connection, key: TableKey) -> TableState:
        """Return a table's state as the catalog has it now, for upkeep to act on.

        Raises:
            CatalogBehind: the catalog is older than the warehouse, of this table or the ledger.
        """
        # A table that got one version since the backup tells nothing: that could be a dead try's.
        looked_at = (LEDGER_KEY, key)
        newest = [newest_version(self._folder(*one)) for one in looked_at]
        pointers = read_pointers(connection, {key[0], LEDGER_NAMESPACE})
        for one, version in zip(looked_at, newest, strict=True):
            check_catalog(self.state(one, pointers), newest=version)
        return self.state(key, pointers)

    def states(
        self, namespace: str, pointers: Mapping[TableKey, str]
    ) -> dict[TableKey, TableState]:
        """Return all tables a namespace has or may get."""
        names = (LEDGER,) if namespace == LEDGER_NAMESPACE else tuple(SCOPE_TABLES)
        return {(namespace, table): self.state((namespace, table), pointers) for table in names}

    def write_blob(self, namespace: str, sha256: str, body: bytes) -> str:
        """Store a long body beside the tables; return its place under the warehouse."""
        return self.files.put_blob(namespace, sha256, body)

    def _check_book(self, book: TableState) -> None:
        """Refuse to land on an older backup of the catalog: what was acknowledged would fork off.

        The folder is looked through at this process's first landing, and when the ledger has
        gone back since.
        """
        if self._book_version is None or book.version < self._book_version:
            check_catalog(book, newest=newest_version(book.folder))
        self._book_version = book.version

    def _check_blobs(self, parts: Sequence[EncodedPart]) -> None:
        """Refuse rows whose blob is gone: put there long ago, it was swept as nobody's."""
        for part in parts:
            for place in part.blobs:
                if not (self.root / place).exists():
                    message = "A long body was swept before its write landed; send it again."
                    raise StorageUnavailable(message)

    def ledger_seq(self) -> int:
        """Return the newest seq that has landed, by the ledger table itself; 0 if none has."""
        with self.connected() as connection:
            return ledger_seq_of(self.state(LEDGER_KEY, read_pointers(connection)))

    def namespaces(self) -> tuple[str, ...]:
        """Return the scopes that hold tables."""
        with self.connected() as connection:
            return namespaces_of(read_pointers(connection), but=LEDGER_NAMESPACE)

    def make_durable(self, staged: Sequence[StagedTable], data: Sequence[str]) -> None:
        """Write the metadata files of new versions and flush them with their data files."""
        reach("tables.staged")
        metadata = [file for table in staged for file in table.files]
        try:
            self.files.flush([local_path(uri) for uri in data], new=metadata)
        except BaseException:
            self.files.remove(path for path, _ in metadata)
            raise
        reach("tables.fsynced")


def ledger_seq_of(state: TableState) -> int:
    """Return the newest seq a version of the ledger holds."""
    return int(state.summary.get("memory.seq-max", 0))
