"""Upkeep removes what is lost and old, and nothing that anybody may still read."""

from pathlib import Path

import psycopg
import pytest

from ampup_site.kernel.clock import Micros
from memory.domain.errors import CatalogBehind
from memory.tables import reading
from memory.tables.catalog import read_pointers
from memory.tables.compaction import compact
from memory.tables.upkeep import DATA_AGE, METADATA_AGE, remove_unreachable
from memory.tables.verify import verify_ledger
from memory.tables.warehouse import Warehouse
from tests.memory.tables.book import NAMESPACE, Book, StillClock, notes, paths_below, put_pointers

EPISODES = (NAMESPACE, "episodes")
HOUR = 3_600_000_000


@pytest.fixture
def clock(book: Book) -> StillClock:
    """The warehouse's clock, an hour after the files were made."""
    clock = StillClock(book.warehouse.clock.now() + HOUR)
    book.warehouse.clock = clock
    return clock


def test_a_replaced_file_stays_a_day_from_when_it_was_first_seen_so(
    book: Book, clock: StillClock
) -> None:
    """Documented: two looks; a reader of the version before keeps its files."""
    for n in range(30):
        book.land(notes([f"note {n}"]))
    clock.at += 100 * DATA_AGE
    before = _data(book)
    compact(book.warehouse, EPISODES, min_files=8)
    for n in range(25):
        book.land(notes([f"later {n}"]))
    first = remove_unreachable(book.warehouse, EPISODES)
    assert first.files == 0
    assert first.waiting > 30
    clock.at += METADATA_AGE
    second = remove_unreachable(book.warehouse, EPISODES)
    assert second.files > 30
    assert before <= _data(book)
    clock.at += DATA_AGE
    third = remove_unreachable(book.warehouse, EPISODES)
    assert (third.files, third.waiting) == (30, 0)
    assert third.bytes > 0
    assert verify_ledger(book.reopened().warehouse).faults == ()
    assert remove_unreachable(book.warehouse, EPISODES).files == 0


def test_what_a_landing_is_about_to_refer_to_is_too_young_to_go(
    book: Book, clock: StillClock, connection: psycopg.Connection
) -> None:
    """Documented: commits in flight are protected by their age."""
    book.land(notes(["one"]))
    part = notes(["in flight"])
    encoded = [book.warehouse.encode(part)]
    clock.at -= HOUR
    removed = remove_unreachable(book.warehouse, EPISODES, data_age=Micros(0))
    assert (removed.files, removed.waiting) == (0, 0)
    with connection.transaction():
        rows = book.ledger_rows([part])
        staged = book.warehouse.stage(connection, encoded, rows, batch_id="b")
        book.warehouse.swap(connection, staged)
    assert verify_ledger(book.reopened().warehouse).commits == 2


def test_upkeep_refuses_while_the_catalog_is_an_older_backup(
    book: Book, clock: StillClock, connection: psycopg.Connection
) -> None:
    """Documented: after a restore nothing acknowledged is taken for litter."""
    book.land(notes(["one"]))
    old = read_pointers(connection)
    for n in range(3):
        book.land(notes([f"after the backup {n}"]))
    held = paths_below(book.warehouse.root)
    put_pointers(connection, old)
    clock.at += 100 * DATA_AGE
    restored = Warehouse(root=book.warehouse.root, dsn=book.dsn, clock=clock)
    with pytest.raises(CatalogBehind):
        remove_unreachable(restored, EPISODES)
    assert held <= paths_below(book.warehouse.root)


def test_nothing_is_written_compacted_or_removed_on_an_older_catalog(
    book: Book, clock: StillClock, connection: psycopg.Connection
) -> None:
    """Regression: a table with one version since the backup lost it, and writes forked off."""
    quiet = ("org_quiet", "episodes")
    book.land(notes(["one"]), notes(["quiet"], namespace=quiet[0]))
    old = read_pointers(connection)
    book.land(notes(["acknowledged"], namespace=quiet[0]))
    for n in range(3):
        book.land(notes([f"after the backup {n}"]))
    running = book.reopened()
    running.land(notes(["by a server that runs on"]))
    held = paths_below(book.warehouse.root)
    put_pointers(connection, old)
    clock.at += 100 * DATA_AGE
    for warehouse in (
        Warehouse(root=book.warehouse.root, dsn=book.dsn, clock=clock),
        running.warehouse,
    ):
        with pytest.raises(CatalogBehind):
            remove_unreachable(warehouse, quiet)
        with pytest.raises(CatalogBehind):
            compact(warehouse, quiet, min_files=1)
        late = Book(warehouse, book.dsn)
        with pytest.raises(CatalogBehind):
            late.land(notes(["late"]))
    assert held <= paths_below(book.warehouse.root)


def test_one_version_more_is_what_a_dead_landing_leaves(
    book: Book, clock: StillClock, connection: psycopg.Connection
) -> None:
    """Documented: a landing that died before its commit does not stop upkeep, and is swept."""
    book.land(notes(["one"]))
    before = paths_below(book.warehouse.root / NAMESPACE)
    lost = notes(["lost"])
    with connection.transaction(force_rollback=True):
        encoded = [book.warehouse.encode(lost)]
        book.warehouse.stage(connection, encoded, book.ledger_rows([lost]), batch_id="b")
    for _ in range(2):
        for table in ("episodes", "bodies"):
            remove_unreachable(
                book.warehouse, (NAMESPACE, table), data_age=Micros(1), metadata_age=Micros(1)
            )
        clock.at += HOUR
    assert paths_below(book.warehouse.root / NAMESPACE) == before


def test_a_file_that_is_reachable_again_is_counted_anew(
    book: Book, clock: StillClock, connection: psycopg.Connection
) -> None:
    """Ours: the grace begins when a file was last seen to become unreachable."""
    book.land(notes(["one"]))
    stray = book.warehouse.root / NAMESPACE / "episodes" / "data" / "stray.parquet"
    stray.write_bytes(b"")
    remove_unreachable(book.warehouse, EPISODES)
    away = stray.with_suffix(".away")
    stray.rename(book.warehouse.root / away.name)
    clock.at += 2 * DATA_AGE
    remove_unreachable(book.warehouse, EPISODES)
    (book.warehouse.root / away.name).rename(stray)
    assert remove_unreachable(book.warehouse, EPISODES).files == 0
    clock.at += DATA_AGE
    assert remove_unreachable(book.warehouse, EPISODES).files == 1
    assert [row.seq for row in reading.ledger_rows(book.warehouse)] == [1]


def _data(book: Book) -> set[Path]:
    return set((book.warehouse.root / NAMESPACE / "episodes" / "data").glob("*"))
