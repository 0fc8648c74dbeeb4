"""The catalog is lost or an older backup: the warehouse alone says what has landed."""

import shutil
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from memory.domain.errors import DamagedTable
from memory.tables import recover
from memory.tables.catalog import TableKey, read_pointers
from memory.tables.compaction import compact
from memory.tables.files import local_path
from memory.tables.recover import Recovery, recover_catalog
from memory.tables.verify import verify_ledger
from memory.tables.warehouse import LEDGER_KEY, Warehouse
from tests.memory.tables.book import (
    NAMESPACE,
    Book,
    StillClock,
    commit_id,
    notes,
    paths_below,
    put_pointers,
)
from tests.memory.tables.rows import one_of_each

EPISODES = (NAMESPACE, "episodes")
Pointers = dict[TableKey, str]


@pytest.fixture
def book(book: Book) -> Book:
    """A book whose clock stands still unless it is moved."""
    book.warehouse.clock = StillClock(book.warehouse.clock.now())
    return book


@pytest.fixture
def lose(connection: psycopg.Connection) -> Callable[..., Pointers]:
    """Put the catalog back to older pointers, by default to none; return those it had."""

    def put_back(older: Pointers | None = None) -> Pointers:
        held = read_pointers(connection)
        put_pointers(connection, older or {})
        return held

    return put_back


def recovered(book: Book, *, leave_unproved: bool = False) -> Recovery:
    """Recover as another process would, which knows nothing."""
    fresh = book.reopened_blind()
    told = recover_catalog(fresh, dry_run=True, leave_unproved=leave_unproved)
    done = recover_catalog(fresh, dry_run=False, leave_unproved=leave_unproved)
    assert told == done
    return done


def test_an_older_catalog_is_pointed_at_all_that_landed_since(
    book: Book, connection: psycopg.Connection, lose: Callable[..., Pointers]
) -> None:
    """Documented: nothing that was acknowledged is lost, scopes and tables made since included."""
    book.land(notes(["before"]), notes(["quiet"], namespace="org_quiet"))
    older = read_pointers(connection)
    for _ in range(3):
        book.land(one_of_each(commit_id()), notes(["new scope"], namespace="org_new"))
    held = lose(older)
    done = recovered(book)
    assert done == Recovery(
        from_seq=2, to_seq=8, unproved=2, tables=11, moved=3, made=6, dropped=0, left_out=()
    )
    assert read_pointers(connection) == held
    report = verify_ledger(book.reopened().warehouse)
    assert (report.commits, report.faults) == (8, ())
    again = recovered(book)
    assert (again.moved, again.made, again.unproved, again.from_seq) == (0, 0, 0, 8)
    book.reopened().land(notes(["after"]))


def test_a_catalog_that_is_lost_is_made_again_and_a_dry_run_only_tells(
    book: Book, connection: psycopg.Connection, lose: Callable[..., Pointers]
) -> None:
    """Documented: from the warehouse alone."""
    for n in range(30):
        book.land(notes([f"note {n}"]))
    assert compact(book.warehouse, EPISODES, min_files=8) is not None
    assert compact(book.warehouse, LEDGER_KEY, min_files=8) is not None
    held = lose()
    told = recover_catalog(book.reopened_blind(), dry_run=True)
    assert (told.made, told.to_seq, told.unproved) == (3, 30, 0)
    assert read_pointers(connection) == {}
    recovered(book)
    assert read_pointers(connection) == held
    assert verify_ledger(book.reopened().warehouse).faults == ()


def test_an_empty_warehouse_has_nothing_to_recover(book: Book) -> None:
    """Ours: the first start of a server is no loss."""
    assert recovered(book) == Recovery(0, 0, 0, 0, 0, 0, 0, ())


def test_a_landing_that_others_landed_past_is_not_adopted(
    book: Book, connection: psycopg.Connection, lose: Callable[..., Pointers]
) -> None:
    """Documented: staged is not landed; the one staged last of its equals may have."""
    book.land(notes(["one"]))
    for last in (False, True):
        book.stage_and_die(notes(["lost"]), notes(["lost too"]))
        _pass(book)
        book.land(notes(["two"]))
        if not last:
            book.land(notes(["three"]))
        held = lose()
        done = recovered(book)
        assert (done.to_seq, done.left_out) == (4 if last else 3, ())
        assert read_pointers(connection) == held
    assert verify_ledger(book.reopened().warehouse).rows == 8


def test_a_landing_that_was_refused_is_not_adopted(
    book: Book, connection: psycopg.Connection, lose: Callable[..., Pointers]
) -> None:
    """Documented: staged is not landed; a refused one took its data files with it."""
    book.land(notes(["one"]))
    held = read_pointers(connection)
    book.warehouse.discard(book.stage_and_die(notes(["refused"])))
    lose()
    done = recovered(book)
    assert (done.to_seq, done.unproved, len(done.left_out)) == (1, 0, 1)
    assert read_pointers(connection) == held
    assert verify_ledger(book.reopened().warehouse).commits == 1


@pytest.mark.parametrize("table", ["memory_system/ledger", f"{NAMESPACE}/episodes"])
@pytest.mark.parametrize("torn", [False, True])
def test_a_landing_that_died_before_all_its_files_were_there_is_not_adopted(
    book: Book,
    connection: psycopg.Connection,
    lose: Callable[..., Pointers],
    table: str,
    torn: bool,
) -> None:
    """Documented: staged is not landed; without its ledger row a version counts for nothing."""
    book.land(notes(["one"]))
    held = read_pointers(connection)
    book.stage_and_die(notes(["half staged"]))
    newest = max((book.warehouse.root / table / "metadata").glob("*.metadata.json"))
    if torn:
        newest.write_bytes(newest.read_bytes()[:100])
    else:
        newest.unlink()
    lose()
    assert recovered(book).to_seq == 1
    assert read_pointers(connection) == held


def test_a_whole_last_landing_counts_unless_told_otherwise(
    book: Book, connection: psycopg.Connection, lose: Callable[..., Pointers]
) -> None:
    """Documented: the last may be staged and not landed; its callers were told nothing."""
    book.land(notes(["one"]))
    held = read_pointers(connection)
    book.stage_and_die(notes(["whole"]), notes(["whole too"]))
    lose(held)
    without = recovered(book, leave_unproved=True)
    assert (without.to_seq, without.unproved, len(without.left_out)) == (1, 0, 1)
    assert read_pointers(connection) == held
    done = recovered(book)
    assert (done.from_seq, done.to_seq, done.unproved, done.left_out) == (1, 3, 2, ())
    assert verify_ledger(book.reopened().warehouse).rows == 6


def test_what_a_torn_version_was_staged_on_has_landed(
    book: Book, connection: psycopg.Connection, lose: Callable[..., Pointers]
) -> None:
    """Regression: told to leave out what is unproved, it left out an acknowledged commit."""
    book.land(notes(["one"]))
    book.land(notes(["two"]))
    held = read_pointers(connection)
    book.stage_and_die(notes(["half staged"]))
    newest = max(book.warehouse.root.joinpath(*LEDGER_KEY, "metadata").glob("*.metadata.json"))
    newest.write_bytes(newest.read_bytes()[:100])
    lose()
    assert recovered(book, leave_unproved=True).to_seq == 2
    assert read_pointers(connection) == held


def test_a_compaction_that_died_takes_no_row_with_it(
    book: Book, connection: psycopg.Connection, lose: Callable[..., Pointers]
) -> None:
    """Ours: the version before holds the same rows."""
    for n in range(4):
        book.land(notes([f"note {n}"]))
    held = read_pointers(connection)
    done = compact(book.warehouse, EPISODES, min_files=2)
    assert done is not None
    with book.warehouse.connected() as holding:
        state = book.warehouse.state(EPISODES, read_pointers(holding))
    local_path(state.files()[0].path).unlink()
    lose()
    assert recovered(book).to_seq == 4
    assert read_pointers(connection) == held


def test_a_recovery_that_dies_changes_nothing_and_the_next_one_does_it_all(
    book: Book,
    connection: psycopg.Connection,
    lose: Callable[..., Pointers],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: all pointers move in one transaction."""
    book.land(notes(["one"]))
    older = read_pointers(connection)
    for n in range(3):
        book.land(notes([f"later {n}"]))
    held = lose(older)

    def die(_name: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr(recover, "reach", die)
        with pytest.raises(KeyboardInterrupt):
            recover_catalog(book.warehouse, dry_run=False)
    assert read_pointers(connection) == older
    recovered(book)
    assert read_pointers(connection) == held


def test_damage_to_what_has_landed_is_told_and_nothing_is_changed(
    book: Book, connection: psycopg.Connection, lose: Callable[..., Pointers]
) -> None:
    """Ours: going back behind damage would lose what was acknowledged in silence."""
    book.land(notes(["one"], namespace="org_quiet"))
    for n in range(3):
        book.land(notes([f"note {n}"]))
    older = read_pointers(connection)
    lose(older)
    next((book.warehouse.root / "org_quiet" / "episodes" / "data").glob("*")).unlink()
    with pytest.raises(DamagedTable):
        recovered(book)
    assert read_pointers(connection) == older


def test_two_histories_are_told_and_nothing_is_changed(
    book: Book, connection: psycopg.Connection, lose: Callable[..., Pointers]
) -> None:
    """Ours: which of two that were acknowledged holds is for a person to say."""
    book.land(notes(["one"]))
    older = read_pointers(connection)
    for n in range(3):
        book.land(notes([f"first history {n}"]))
    away = book.warehouse.root.with_name("away")
    shutil.copytree(book.warehouse.root, away)
    for path in paths_below(book.warehouse.root):
        if path.name.startswith(("00001", "00002", "00003")):
            path.unlink()
    lose(older)
    second = book.reopened()
    second.land(notes(["second history"]))
    shutil.copytree(away, book.warehouse.root, dirs_exist_ok=True)
    held = read_pointers(connection)
    with pytest.raises(DamagedTable):
        recovered(book)
    assert read_pointers(connection) == held


def test_an_older_warehouse_under_a_newer_catalog_is_what_there_is(
    book: Book, connection: psycopg.Connection
) -> None:
    """Documented: the reverse; the catalog names nothing that is not there."""
    book.land(notes(["one"]))
    held = read_pointers(connection)
    old = paths_below(book.warehouse.root)
    book.land(notes(["two"]), notes(["other"], namespace="org_other"))
    for path in paths_below(book.warehouse.root) - old:
        path.unlink()
    done = recovered(book)
    assert (done.to_seq, done.moved, done.dropped) == (1, 3, 2)
    assert read_pointers(connection) == held
    assert verify_ledger(book.reopened().warehouse).commits == 1


def test_another_warehouses_catalog_is_left_alone(
    book: Book, connection: psycopg.Connection, tmp_path: Path
) -> None:
    """Ours: a wrong folder in a setting takes no pointer away."""
    book.land(notes(["one"]))
    held = read_pointers(connection)
    with pytest.raises(DamagedTable):
        recover_catalog(Warehouse(root=tmp_path / "other", dsn=book.dsn), dry_run=False)
    assert read_pointers(connection) == held


def _pass(book: Book) -> None:
    clock = book.warehouse.clock
    assert isinstance(clock, StillClock)
    clock.at += 1_000
