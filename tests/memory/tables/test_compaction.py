"""Compaction changes how rows lie in files, and nothing a reader can see."""

from itertools import pairwise
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.tables import compaction, reading
from memory.tables.avro import DataFile
from memory.tables.catalog import read_pointers
from memory.tables.compaction import TARGET_BYTES, compact, files_to_compact
from memory.tables.files import local_path
from memory.tables.rewriting import rewrite
from memory.tables.verify import verify_ledger
from tests.memory.tables.book import NAMESPACE, Book, StillClock, commit_id, first_commit, notes
from tests.memory.tables.rows import one_of_each

EPISODES = (NAMESPACE, "episodes")


def test_a_compacted_table_reads_as_before(book: Book) -> None:
    """Documented: one snapshot, same rows, same order of landing."""
    parts = [one_of_each(commit_id()) for _ in range(6)]
    for part in parts:
        book.land(part)
    commits = [first_commit(part) for part in parts]
    before = reading.read_part(book.warehouse, NAMESPACE, commits)
    for table in ("episodes", "bodies", "facts", "tombstones", "schemas", "acl_changes"):
        done = compact(book.warehouse, (NAMESPACE, table), min_files=4)
        assert done is not None
        assert done.files == 6
    assert compact(book.warehouse, ("memory_system", "ledger"), min_files=4) is not None
    fresh = book.reopened()
    assert reading.read_part(fresh.warehouse, NAMESPACE, commits) == before
    assert verify_ledger(fresh.warehouse).faults == ()
    assert fresh.warehouse.ledger_seq() == 6


def test_too_few_files_are_left_alone(book: Book) -> None:
    """Ours: no rewrite before it pays."""
    for n in range(3):
        book.land(notes([f"note {n}"]))
    assert compact(book.warehouse, EPISODES, min_files=4) is None


def test_landings_go_on_while_files_are_rewritten(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documented: rewritten outside the lock; what landed meanwhile stays."""
    for n in range(4):
        book.land(notes([f"note {n}"]))

    def slowly(*how: Any) -> DataFile:
        book.land(notes(["meanwhile"]))
        return rewrite(*how)

    monkeypatch.setattr(compaction, "rewrite", slowly)
    done = compact(book.warehouse, EPISODES, min_files=4)
    assert done is not None
    assert (done.files, done.rows) == (4, 4)
    assert _files(book) == [4, 1]
    assert verify_ledger(book.warehouse).rows == 10


def test_the_second_of_two_compactions_gives_up_and_leaves_no_file(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documented: the swap happens only while the replaced files are still there."""
    for n in range(4):
        book.land(notes([f"note {n}"]))
    other = book.reopened()
    written: list[DataFile] = []

    def after_another(*how: Any) -> DataFile:
        monkeypatch.setattr(compaction, "rewrite", rewrite)
        assert compact(other.warehouse, EPISODES, min_files=4) is not None
        written.append(rewrite(*how))
        return written[-1]

    monkeypatch.setattr(compaction, "rewrite", after_another)
    assert compact(book.warehouse, EPISODES, min_files=4) is None
    assert not local_path(written[0].path).exists()
    assert _files(book) == [4]


def test_many_commits_with_compaction_leave_few_files(book: Book) -> None:
    """Documented: the tail of small files stays short."""
    with psycopg.connect(book.dsn, autocommit=True) as connection:
        for n in range(60):
            book.land_on(connection, notes([f"note {n}"]))
            for key in book.warehouse.take_grown(files=8):
                compact(book.warehouse, key, min_files=8)
    assert len(_files(book)) <= 16
    assert sum(_files(book)) == 60
    report = verify_ledger(book.reopened().warehouse)
    assert (report.commits, report.faults) == (60, ())


def test_a_compaction_that_fails_keeps_its_turn_and_holds_up_no_other(book: Book) -> None:
    """Regression: it waited for as many files again, and so did the tables behind it."""
    clock = StillClock(book.warehouse.clock.now())
    book.warehouse.clock = clock
    for n in range(4):
        book.land(notes([f"note {n}"]))
    taken = []

    def fail() -> None:
        for key in book.warehouse.take_grown(files=4):
            taken.append(key)
            raise OSError(28, "No space left on device")

    for _ in range(3):
        with pytest.raises(OSError, match="No space"):
            fail()
    assert len(set(taken)) == 3
    assert list(book.warehouse.take_grown(files=4)) == []
    clock.at += 60_000_000
    assert set(book.warehouse.take_grown(files=4)) == set(taken)
    assert list(book.warehouse.take_grown(files=1)) == []


def test_files_that_come_during_a_compaction_count_for_the_next(book: Book) -> None:
    """Ours: none is forgotten."""
    for n in range(2):
        book.land(notes([f"note {n}"]))
    for _ in book.warehouse.take_grown(files=2):
        book.land(notes(["meanwhile"]))
    assert len(list(book.warehouse.take_grown(files=3))) == 3


_SIZES = st.lists(
    st.sampled_from([1, 300 * 2**10, 10 * 2**20, 100 * 2**20, TARGET_BYTES]), max_size=60
)


@given(_SIZES, st.integers(2, 12))
def test_only_neighbours_are_joined_and_never_beyond_a_full_file(
    sizes: list[int], min_files: int
) -> None:
    """Ours: rows keep the order of landing, and rewriting ends."""
    files = [DataFile(str(n), 1, size, {}, {}, sequence=n) for n, size in enumerate(sizes)]
    rounds = 0
    while chosen := files_to_compact(files, min_files=min_files):
        places = [files.index(file) for file in chosen]
        assert all(second == first + 1 for first, second in pairwise(places))
        size = sum(file.size for file in chosen)
        assert size <= TARGET_BYTES
        assert len(chosen) >= min_files
        joined = DataFile(f"r{rounds}", 1, size, {}, {}, sequence=chosen[0].sequence)
        files[places[0] : places[-1] + 1] = [joined]
        rounds += 1
        assert rounds <= len(sizes)


def _files(book: Book) -> list[int]:
    """Return the rows of each data file of the episodes, oldest first."""
    with book.warehouse.connected() as connection:
        state = book.warehouse.state(EPISODES, read_pointers(connection, [NAMESPACE]))
    return [file.rows for file in state.files()]


def test_what_lands_while_the_catalog_is_asked_is_no_older_backup(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: under many small writes the mover took its own server's catalog for a backup."""
    for n in range(4):
        book.land(notes([f"note {n}"]))
    landed: list[int] = []

    def slowly(*args: Any) -> Any:
        pointers = read_pointers(*args)
        if landed:
            return pointers
        landed.append(3)
        for n in range(3):
            book.land(notes([f"meanwhile {n}"]))
        return pointers

    monkeypatch.setattr("memory.tables.warehouse.read_pointers", slowly)
    compact(book.warehouse, EPISODES, min_files=2)
    assert landed == [3]
