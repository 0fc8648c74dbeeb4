"""`ledger verify` opens the files and names whatever was changed in them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from memory.domain.chain import row_hash
from memory.domain.records import LedgerRecord
from memory.tables import reading
from memory.tables.catalog import read_pointers
from memory.tables.encode import ScopePart, write_records
from memory.tables.files import local_path
from memory.tables.verify import ledger_head, verify_ledger
from memory.tables.versions import StagedTable, replace_files
from memory.tables.warehouse import LEDGER_KEY, StagedLanding
from tests.memory.tables.book import NAMESPACE, Book, first_commit, notes

TableKey = tuple[str, str]


@pytest.fixture
def five(book: Book) -> Book:
    """Five commits of two notes each."""
    for n in range(5):
        book.land(notes([f"note {n}", f"second of {n}"]))
    return book


def test_an_honest_ledger_holds(five: Book) -> None:
    """Documented: no gap, no fork, every payload as hashed; the head is an anchor."""
    told: list[tuple[int, int]] = []
    report = verify_ledger(five.warehouse, progress=lambda *at: told.append(at))
    assert (report.commits, report.rows, report.faults) == (5, 20, ())
    assert five.last is not None
    assert report.head.chain_hash == row_hash(five.last)
    assert ledger_head(five.warehouse) == report.head
    assert told == [(5, 5)]


def test_an_empty_ledger_holds(book: Book) -> None:
    """Ours: before the first commit there is nothing to doubt."""
    report = verify_ledger(book.warehouse)
    assert (report.commits, report.faults, report.head.seq) == (0, (), 0)


def test_a_row_that_was_changed_is_named_by_its_commit(five: Book) -> None:
    """Documented: payloads are hashed over the rows, so a rewritten file shows."""
    _rewrite_part(five, lambda part: replace(part.episodes[4], source="note:forged"))
    _assert_named(five, "commit 3")


def test_a_row_that_is_missing_is_named_by_its_commit(five: Book) -> None:
    """Documented: a lost row is damage."""
    _rewrite_part(five, lambda part: None)
    _assert_named(five, "commit 3")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda row: replace(row, author="user:mallory"), "hash of row 3"),
        (lambda row: replace(row, seq=7), "seq"),
        (lambda row: replace(row, prev_hash="0" * 64), "hash of row 2"),
        (lambda row: replace(row, committed_at=0), "not later"),
    ],
)
def test_a_ledger_row_that_was_changed_is_named(
    five: Book, change: Callable[[LedgerRecord], LedgerRecord], named: str
) -> None:
    """Documented: the chain shows a forged author, a gap, a fork and a turned clock."""
    rows = list(reading.ledger_rows(five.warehouse))
    forged = [change(row) if row.seq == 3 else row for row in rows]
    _replace_all(five, LEDGER_KEY, [forged])
    _assert_named(five, named)


def test_a_ledger_that_was_cut_off_is_named(five: Book) -> None:
    """Documented: rows cannot vanish from the end unseen while the table says otherwise."""
    rows = list(reading.ledger_rows(five.warehouse))
    _replace_all(five, LEDGER_KEY, [rows[:4]])
    _assert_named(five, "reaches 5")


def test_verify_never_asks_the_index(five: Book, connection: psycopg.Connection) -> None:
    """Documented: only the files and the pointers; the derived rows are not even there."""
    found = connection.execute(
        "SELECT 1 FROM information_schema.schemata WHERE schema_name = 'ampup_index'"
    ).fetchone()
    assert found is None
    assert verify_ledger(five.warehouse).faults == ()


def _assert_named(book: Book, named: str) -> None:
    faults = verify_ledger(book.reopened_blind()).faults
    assert any(named in fault for fault in faults), faults


def _rewrite_part(book: Book, change: Callable[[ScopePart], object]) -> None:
    """Change or drop the first row of the third commit in the episodes' files."""
    ledger = list(reading.ledger_rows(book.warehouse))
    part = reading.read_part(book.warehouse, NAMESPACE, [row.commit_id for row in ledger])
    changed = change(part)
    rows = [
        changed if n == 4 else row
        for n, row in enumerate(part.episodes)
        if n != 4 or changed is not None
    ]
    assert first_commit(part) == ledger[0].commit_id
    _replace_all(book, (NAMESPACE, "episodes"), [rows])


def _replace_all(book: Book, key: TableKey, files: Sequence[Sequence[Any]]) -> None:
    """Put other files in a table's place, as somebody with the keys to everything could."""
    warehouse = book.warehouse
    with psycopg.connect(book.dsn, autocommit=True) as connection:
        state = warehouse.state(key, read_pointers(connection))
        new = [write_records(warehouse.root, *key, rows) for rows in files]
        staged = replace_files(state, state.files(), new, summary={}, now=warehouse.clock.now())
        assert isinstance(staged, StagedTable)
        warehouse.make_durable([staged], [])
        warehouse.swap(connection, StagedLanding((staged,)))
        assert local_path(str(staged.after.location)).exists()
