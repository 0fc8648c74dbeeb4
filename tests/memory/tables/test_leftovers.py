"""What failed leaves no file, and blobs that no row names go; a blob of a landing never does."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ampup_site.kernel import failpoints
from ampup_site.kernel.canonical import sha256_hex
from memory.domain.errors import StorageUnavailable
from memory.tables import blobs, reading, warehouse
from memory.tables.compaction import compact
from memory.tables.encode import ScopePart, write_records
from memory.tables.upkeep import DATA_AGE, METADATA_AGE, Removal, remove_unreachable
from memory.tables.verify import verify_ledger
from tests.memory.tables.book import NAMESPACE, Book, StillClock, notes, paths_below

BODIES = (NAMESPACE, "bodies")
LONG = "A long body. " * 10_000


@pytest.fixture
def clock(book: Book) -> StillClock:
    """The warehouse's clock."""
    clock = StillClock(book.warehouse.clock.now())
    book.warehouse.clock = clock
    return clock


@pytest.fixture
def unarmed() -> Any:
    """No failpoint is left armed."""
    yield
    failpoints.arm("")


def long_note(book: Book, body: str = LONG) -> ScopePart:
    """Put a long body beside the tables and return the commit that names it."""
    part = notes([body])
    place = book.warehouse.write_blob(NAMESPACE, sha256_hex(body.encode()), body.encode())
    row = replace(part.bodies[0], body=None, blob=place, codec="zstd")
    return replace(part, bodies=(row,))


def test_a_blob_that_no_row_names_goes_after_two_looks_and_the_others_stay(
    book: Book, clock: StillClock
) -> None:
    """Ours: a write that was refused, or whose server died, leaves its body for two days."""
    book.land(notes(["short"]), long_note(book))
    kept = paths_below(book.warehouse.root)
    long_note(book, LONG + "of nobody")
    draft = book.warehouse.root / NAMESPACE / "bodies" / "ab" / "0123.draft"
    draft.parent.mkdir(exist_ok=True)
    draft.write_bytes(b"half a bod")

    clock.at += DATA_AGE - METADATA_AGE
    assert _removal(book) == (0, 0), "too young to judge: its landing may come"
    clock.at += 2 * METADATA_AGE
    assert _removal(book) == (0, 2)
    clock.at += DATA_AGE
    assert _removal(book) == (2, 0)
    assert paths_below(book.warehouse.root) == kept
    assert list(
        reading.bodies(book.warehouse, NAMESPACE, [sha256_hex(LONG.encode())]).values()
    ) == [LONG]


def test_a_blob_that_is_written_again_is_young_again(book: Book, clock: StillClock) -> None:
    """Ours: the sweep does not take a body from under the landing that is to come."""
    book.land(notes(["short"]))
    part = long_note(book)
    clock.at += DATA_AGE + METADATA_AGE
    assert _removal(book) == (0, 1)
    clock.at += DATA_AGE
    _touch_at(book, part, clock.at)
    assert _removal(book) == (0, 0)
    book.land(part)
    clock.at += 3 * DATA_AGE
    assert _removal(book) == (0, 0)
    assert verify_ledger(book.reopened().warehouse).faults == ()


def test_a_blob_that_lands_or_is_written_while_the_sweep_decides_stays(
    book: Book, clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the last look is under the landing lock."""
    book.land(notes(["short"]))
    lands, comes, nobodys = (long_note(book, f"{LONG}{n}") for n in range(3))
    clock.at += DATA_AGE + METADATA_AGE
    assert _removal(book) == (0, 3)
    clock.at += DATA_AGE

    def meanwhile(*args: Any, **options: Any) -> Any:
        book.land(lands)
        _touch_at(book, comes, clock.at)
        return blobs.remove_blobs(*args, **options)

    monkeypatch.setattr("memory.tables.upkeep.remove_blobs", meanwhile)
    assert _removal(book)[0] == 1
    assert [_blob(book, part).exists() for part in (lands, comes, nobodys)] == [True, True, False]


def test_a_landing_whose_blob_was_swept_is_refused_and_can_be_sent_again(
    book: Book, connection: psycopg.Connection
) -> None:
    """Ours: no row ever names a body that is not there."""
    book.land(notes(["short"]))
    part = long_note(book)
    encoded = [book.warehouse.encode(part)]
    _blob(book, part).unlink()
    with pytest.raises(StorageUnavailable), connection.transaction():
        book.warehouse.stage(connection, encoded, book.ledger_rows([part]), batch_id="b")
    book.warehouse.discard(encoded)
    book.land(long_note(book))
    assert verify_ledger(book.reopened().warehouse).faults == ()


def _touch_at(book: Book, part: ScopePart, at: int) -> None:
    """Write a blob again, at the moment of the test's clock."""
    body = part.bodies[0]
    blob = _blob(book, part)
    before = blob.stat().st_mtime_ns
    os.utime(blob, ns=(0, 0))
    text = book.warehouse.files.read_blob(str(body.blob), sha256=body.sha256)
    book.warehouse.write_blob(NAMESPACE, body.sha256, text.encode())
    assert blob.stat().st_mtime_ns >= before
    os.utime(blob, ns=(at * 1000, at * 1000))


def _blob(book: Book, part: ScopePart) -> Path:
    return book.warehouse.root / str(part.bodies[0].blob)


def _removal(book: Book) -> tuple[int, int]:
    done: Removal = remove_unreachable(book.warehouse, BODIES, metadata_age=METADATA_AGE)
    return done.files, done.waiting


def _full(*_args: object, **_options: object) -> None:
    raise OSError(28, "No space left on device")


def _encode(book: Book) -> None:
    book.warehouse.encode(notes(["one"]))


def _land(book: Book) -> None:
    part = notes(["one"])
    encoded = [book.warehouse.encode(part)]
    try:
        with psycopg.connect(book.dsn, autocommit=True) as connection, connection.transaction():
            book.warehouse.stage(connection, encoded, book.ledger_rows([part]), batch_id="b")
    finally:
        book.warehouse.discard(encoded)


def _put(book: Book) -> None:
    long_note(book)


def _compact(book: Book) -> None:
    compact(book.warehouse, BODIES, min_files=2)


@pytest.mark.parametrize(
    ("act", "place"),
    [
        (_put, "os.fsync"),
        (_put, "pathlib.Path.replace"),
        (_land, "os.fsync"),
        (_compact, "pyarrow.parquet.ParquetWriter.write_table"),
        (_compact, "os.fsync"),
        (_compact, "memory.tables.warehouse.Warehouse.make_durable"),
    ],
)
def test_what_a_full_disk_stops_leaves_no_file(
    book: Book, monkeypatch: pytest.MonkeyPatch, act: Callable[[Book], None], place: str
) -> None:
    """Regression: drafts and halves of files stayed, and made a full disk fuller by every try."""
    for n in range(3):
        book.land(notes([f"note {n}"]))
    held = paths_below(book.warehouse.root)
    with monkeypatch.context() as full:
        full.setattr(place, _full)
        with pytest.raises(OSError, match="No space"):
            act(book)
    assert paths_below(book.warehouse.root) == held
    act(book)
    assert paths_below(book.warehouse.root) >= held


def test_a_scope_that_is_half_encoded_leaves_no_file(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: the files of its other tables stayed for a day."""
    seen: list[object] = []

    def second_fails(*args: Any) -> Any:
        seen.append(args)
        return write_records(*args) if len(seen) < 2 else _full()

    monkeypatch.setattr(warehouse, "write_records", second_fails)
    with pytest.raises(OSError, match="No space"):
        _encode(book)
    assert len(seen) == 2
    assert paths_below(book.warehouse.root) == set()


def test_a_draft_that_a_death_left_is_no_body(book: Book, unarmed: None) -> None:
    """Ours: a body has its name only once it is whole."""
    del unarmed
    failpoints.arm("blob.written=raise")
    with pytest.raises(OSError, match="failpoint"):
        long_note(book)
    assert paths_below(book.warehouse.root) == set()
    assert long_note(book).bodies[0].blob is not None
