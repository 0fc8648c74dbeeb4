"""A landing is all or nothing, in one chain, and costs the same however long the chain is."""

import os
import threading
from pathlib import Path

import psycopg
import pytest

from memory.domain.errors import LedgerConflict
from memory.tables import reading
from memory.tables.catalog import read_pointers
from memory.tables.encode import ScopePart
from memory.tables.files import local_path
from memory.tables.verify import ledger_head, verify_ledger
from memory.tables.versions import KEPT_SNAPSHOTS, TIER
from memory.tables.warehouse import LEDGER_KEY, StagedLanding, Warehouse
from tests.memory.tables.book import (
    NAMESPACE,
    Book,
    commit_id,
    first_commit,
    notes,
    paths_below,
)
from tests.memory.tables.rows import one_of_each


def test_what_landed_is_read_back_whole(book: Book) -> None:
    """Documented: every row of a commit is in the files, with the commit's id."""
    part = one_of_each(commit_id())
    book.land(part)
    assert reading.read_part(book.warehouse, NAMESPACE, [first_commit(part)]) == part
    assert [row.commit_id for row in reading.ledger_rows(book.warehouse)] == [first_commit(part)]
    assert book.warehouse.namespaces() == (NAMESPACE,)


def test_tables_are_made_by_the_first_write_that_needs_them(
    book: Book, connection: psycopg.Connection
) -> None:
    """Documented: namespaces and tables come into being inside the landing."""
    book.land(notes(["one"]))
    rows = connection.execute("SELECT table_namespace, table_name FROM iceberg_tables").fetchall()
    assert sorted(rows) == [
        ("memory_system", "ledger"),
        (NAMESPACE, "bodies"),
        (NAMESPACE, "episodes"),
    ]


def test_a_rolled_back_landing_is_nowhere_and_the_next_one_works(
    book: Book, connection: psycopg.Connection
) -> None:
    """Documented: visible only once the ledger row has landed."""
    book.land(notes(["kept"]))
    lost = notes(["lost"])
    encoded = [book.warehouse.encode(lost)]
    with connection.transaction(force_rollback=True):
        staged = book.warehouse.stage(
            connection, encoded, book.ledger_rows([lost]), batch_id="b_lost"
        )
        book.warehouse.swap(connection, staged)
    book.warehouse.discard(encoded)
    assert reading.read_part(book.warehouse, NAMESPACE, [first_commit(lost)]).tables() == []
    book.land(notes(["after"]))
    assert [row.seq for row in reading.ledger_rows(book.warehouse)] == [1, 2]
    assert verify_ledger(book.warehouse).faults == ()


def test_a_landing_against_an_old_head_is_refused(
    book: Book, connection: psycopg.Connection
) -> None:
    """Documented: the ledger append is a compare-and-set."""
    book.land(notes(["one"]))
    other = book.reopened()
    other.land(notes(["two"]))
    late = notes(["late"])
    with pytest.raises(LedgerConflict), connection.transaction():
        book.warehouse.stage(
            connection,
            [book.warehouse.encode(late)],
            book.ledger_rows([late]),
            batch_id="b_late",
        )
    assert [row.seq for row in reading.ledger_rows(other.warehouse)] == [1, 2]


def test_a_pointer_that_moved_after_staging_is_a_conflict(
    book: Book, connection: psycopg.Connection
) -> None:
    """Documented: any row count but 1 rolls the landing back, without the lock as well."""
    book.land(notes(["one"]))
    late = notes(["late"])
    staged = _staged(book, connection, late)
    book.reopened().land(notes(["two"]))
    with pytest.raises(LedgerConflict), connection.transaction():
        book.warehouse.swap(connection, staged)
    assert len(list(reading.ledger_rows(book.warehouse))) == 2


def test_two_that_create_one_table_do_not_both_win(
    book: Book, connection: psycopg.Connection
) -> None:
    """Ours: the first version of a table is a compare-and-set too."""
    mine = notes(["mine"])
    staged = _staged(book, connection, mine)
    Book(Warehouse(root=book.warehouse.root, dsn=book.dsn), book.dsn).land(notes(["theirs"]))
    with pytest.raises(LedgerConflict), connection.transaction():
        book.warehouse.swap(connection, staged)


def test_every_file_is_flushed_with_its_folders_before_anything_points_at_it(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documented: acknowledged means on the disk."""
    flushed: set[Path] = set()
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        flushed.add(Path(f"/proc/self/fd/{descriptor}").readlink())
        fsync(descriptor)

    monkeypatch.setattr("memory.tables.files.os.fsync", noted)
    before = paths_below(book.warehouse.root)
    book.land(notes(["one"]), notes(["two"], namespace="org_other"))
    written = paths_below(book.warehouse.root) - before
    assert written <= flushed
    for path in written:
        above = {folder for folder in path.parents if folder.is_relative_to(book.warehouse.root)}
        assert above <= flushed


def test_three_hundred_commits_leave_bounded_state(book: Book) -> None:
    """Documented: the cost of a commit does not grow with the number of commits before it."""
    with psycopg.connect(book.dsn, autocommit=True) as connection:
        for n in range(300):
            book.land_on(connection, notes([f"note {n}"]))
        pointers = read_pointers(connection)
    for key in (LEDGER_KEY, (NAMESPACE, "episodes")):
        state = book.warehouse.state(key, pointers)
        assert len(state.metadata["snapshots"]) == KEPT_SNAPSHOTS
        assert len(state.metadata["metadata-log"]) <= 20
        assert len(state.manifests) < 2 * TIER
        assert len(state.entries) <= len(state.manifests)
        assert sum(file.rows for file in state.files()) == 300
        assert local_path(str(state.location)).stat().st_size < 32_000
    assert verify_ledger(book.reopened().warehouse).commits == 300


def test_two_warehouses_that_alternate_keep_one_chain(book: Book) -> None:
    """Documented: processes take turns; each reloads only what the other moved."""
    other = book.reopened()
    for n in range(20):
        book.land(notes([f"mine {n}"]))
        other.last = book.last
        other.land(notes([f"theirs {n}"]))
        book.last = other.last
    report = verify_ledger(book.warehouse)
    assert (report.commits, report.faults) == (40, ())
    assert ledger_head(other.warehouse) == report.head


def test_threads_that_race_for_the_lock_lose_nothing(book: Book) -> None:
    """Documented: one landing at a time over all writers, and no write lost."""
    warehouses = [Warehouse(root=book.warehouse.root, dsn=book.dsn) for _ in range(2)]
    guard = threading.Barrier(4)
    failures: list[BaseException] = []

    def write(name: str, warehouse: Warehouse) -> None:
        try:
            guard.wait()
            for n in range(10):
                _land_at_present_head(warehouse, book.dsn, f"{name} {n}")
        except BaseException as error:  # noqa: BLE001 -- shown by the test that started it
            failures.append(error)

    threads = [
        threading.Thread(target=write, args=(f"writer {n}", warehouses[n % 2])) for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    report = verify_ledger(book.warehouse)
    assert (report.commits, report.rows, report.faults) == (40, 80, ())


def _staged(book: Book, connection: psycopg.Connection, part: ScopePart) -> StagedLanding:
    encoded = [book.warehouse.encode(part)]
    return book.warehouse.stage(connection, encoded, book.ledger_rows([part]), batch_id="b_1")


def _land_at_present_head(warehouse: Warehouse, dsn: str, body: str) -> None:
    part = notes([body])
    encoded = [warehouse.encode(part)]
    with psycopg.connect(dsn, autocommit=True) as connection, connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (warehouse.lock_key,))
        present = Book(warehouse, dsn).reopened()
        staged = warehouse.stage(
            connection, encoded, present.ledger_rows([part]), batch_id="b_race"
        )
        warehouse.swap(connection, staged)


def test_a_scope_named_after_nobody_reads_as_empty(book: Book) -> None:
    """Ours: reading what never was is no error and makes nothing."""
    part = reading.read_part(book.warehouse, "org_nobody", [commit_id()])
    assert part.tables() == []
    assert reading.bodies(book.warehouse, "org_nobody", ["0" * 64]) == {}
    assert not (book.warehouse.root / "org_nobody").exists()
    assert list(reading.ledger_rows(book.warehouse)) == []
