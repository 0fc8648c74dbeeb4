"""Reads by commit, by hash and by seq find what they should, and open little else."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampup_site.kernel.canonical import sha256_hex
from memory.domain.errors import DamagedBlob, DamagedTable
from memory.tables import reading, scan
from memory.tables.avro import DataFile
from memory.tables.compaction import compact
from memory.tables.encode import ScopePart
from memory.tables.reading import _runs_by_seq
from memory.tables.scan import may_hold
from tests.memory.tables.book import NAMESPACE, Book, commit_id, first_commit, notes
from tests.memory.tables.rows import one_of_each


def test_commits_of_one_file_are_told_apart(book: Book) -> None:
    """Documented: rows carry their commit; a landing of many is one file a table."""
    parts = [one_of_each(commit_id()) for _ in range(3)]
    book.land(*parts)
    for part in parts:
        assert reading.read_part(book.warehouse, NAMESPACE, [first_commit(part)]) == part
    both = reading.read_part(book.warehouse, NAMESPACE, [first_commit(part) for part in parts[1:]])
    assert both.episodes == parts[1].episodes + parts[2].episodes


def test_a_scope_is_not_read_through_another(book: Book) -> None:
    """Documented: a namespace a scope; a stranger's commit id finds nothing here."""
    theirs = notes(["theirs"], namespace="org_other")
    book.land(notes(["ours"]), theirs)
    assert reading.read_part(book.warehouse, NAMESPACE, [first_commit(theirs)]).tables() == []
    hashes = [theirs.bodies[0].sha256]
    assert reading.bodies(book.warehouse, NAMESPACE, hashes) == {}
    assert reading.bodies(book.warehouse, "org_other", hashes) == {hashes[0]: "theirs"}


def test_row_groups_without_the_commits_are_not_read(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a large file is read by the bounds of its row groups, before and after compaction."""
    monkeypatch.setattr("memory.tables.encode.ROW_GROUP", 4)
    monkeypatch.setattr("memory.tables.rewriting.ROW_GROUP", 4)
    parts = [notes([f"{n} {m}" for m in range(4)]) for n in range(8)]
    book.land(*parts)
    read: list[list[int]] = []

    def noted(held: pq.ParquetFile, ordered: list[str]) -> list[int]:
        read.append(choose(held, ordered))
        return read[-1]

    choose = scan._groups
    monkeypatch.setattr(scan, "_groups", noted)
    part = reading.read_part(book.warehouse, NAMESPACE, [first_commit(parts[5])])
    assert part == parts[5]
    assert read == [[5], [5]]


def test_bodies_come_from_rows_and_blobs_and_are_looked_for_near_their_commit(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documented: a long body is a file under its hash; the row says where."""
    long = "long " * 20_000
    digest = sha256_hex(long.encode())
    place = book.warehouse.write_blob(NAMESPACE, digest, long.encode())
    assert book.warehouse.write_blob(NAMESPACE, digest, long.encode()) == place
    part = notes([long])
    row = part.bodies[0]
    blob = type(row)(digest, row.commit_id, row.body_len, None, place, "zstd", row.recorded_at)
    book.land(ScopePart(NAMESPACE, part.episodes, (blob,)))
    for n in range(3):
        book.land(notes([f"later {n}"]))
    opened: list[str] = []
    search = scan.rows_by_key

    def noted(file: DataFile, **how: Any) -> Iterator[pa.Table]:
        opened.append(file.path)
        return search(file, **how)

    monkeypatch.setattr(reading, "rows_by_key", noted)
    found = reading.bodies(book.warehouse, NAMESPACE, [digest], near=[first_commit(part)])
    assert found == {digest: long}
    assert len(opened) == 1


def test_a_blob_that_was_changed_is_refused(book: Book) -> None:
    """Documented: a body is verified by its hash when it is read."""
    digest = sha256_hex(b"as written")
    place = book.warehouse.write_blob(NAMESPACE, digest, b"as written")
    other = book.warehouse.write_blob(NAMESPACE, sha256_hex(b"another"), b"another")
    path = book.warehouse.root / place
    path.write_bytes((book.warehouse.root / other).read_bytes())
    with pytest.raises(DamagedBlob):
        book.warehouse.files.read_blob(place, sha256=digest)
    path.write_bytes(b"12345678not zstd")
    with pytest.raises(DamagedBlob):
        book.warehouse.files.read_blob(place, sha256=digest)


def test_a_range_of_the_ledger_is_read_in_order(book: Book) -> None:
    """Ours: by seq, whatever files it lies in."""
    for n in range(9):
        book.land(notes([f"a {n}"]), notes([f"b {n}"]))
    compact(book.warehouse, ("memory_system", "ledger"), min_files=4)
    seqs = [row.seq for row in reading.ledger_rows(book.warehouse, from_seq=5, to_seq=11)]
    assert seqs == list(range(5, 12))


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=40, unique=True),
    st.integers(1, 60),
    st.integers(1, 60),
)
def test_files_that_overlap_in_seq_are_read_together(
    seqs: list[int], first: int, last: int
) -> None:
    """Ours: however rows are spread over files, sorting inside a run sorts the whole."""
    held = [seqs[n : n + 3] for n in range(0, len(seqs), 3)]
    files = [_ledger_file(str(n), rows) for n, rows in enumerate(held)]
    read: list[int] = []
    for run in _runs_by_seq(files, from_seq=first, to_seq=last):
        rows = [seq for file in run for seq in held[int(file.path)]]
        read.extend(sorted(seq for seq in rows if first <= seq <= last))
    assert read == sorted(seq for seq in seqs if first <= seq <= last)


@given(
    st.sets(st.text("0123456789abcdef", min_size=3, max_size=3), min_size=1),
    st.sets(st.text("0123456789abcdef", min_size=3, max_size=3)),
)
def test_bounds_never_hide_a_commit(inside: set[str], asked: set[str]) -> None:
    """Ours: pruning may read too much, and never too little."""
    low, high = min(inside).encode(), max(inside).encode()
    file = DataFile("f", len(inside), 1, {2: low}, {2: high})
    if inside & asked:
        assert may_hold(file, "episodes", sorted(asked))


def _ledger_file(name: str, seqs: list[int]) -> DataFile:
    low, high = (value.to_bytes(8, "little") for value in (min(seqs), max(seqs)))
    return DataFile(name, len(seqs), 1, {1: low}, {1: high})


def test_the_path_of_a_blob_stays_inside_its_scope(book: Book) -> None:
    """Ours: a place names the scope and the hash, and nothing a caller wrote."""
    place = book.warehouse.write_blob(NAMESPACE, "ab" * 32, b"text")
    assert Path(place) == Path(NAMESPACE) / "bodies" / "ab" / f"{'ab' * 32}.zst"


@given(st.lists(st.integers(0, 100 * 2**20), max_size=12))
def test_texts_are_read_in_parts_that_fit_and_none_is_left_out(sizes: list[int]) -> None:
    """Ours: a rebuild of long documents takes no more memory than one of short notes."""
    parts = list(reading.in_parts(sizes, lambda size: size))
    assert [size for part in parts for size in part] == sizes
    assert all(len(part) == 1 or sum(part) <= 64 * 2**20 for part in parts)
    assert all(sum(one) + other[0] > 64 * 2**20 for one, other in pairwise(parts))


def test_a_body_that_is_not_there_is_damage_and_named(book: Book) -> None:
    """Regression: it was a KeyError, in a rebuild as in a comparison."""
    part = notes(["one", "two"])
    book.land(part)
    lost = replace(part.episodes[0], body_sha256="f" * 64)
    assert len(reading.texts(book.warehouse, NAMESPACE, part.episodes)) == 2
    with pytest.raises(DamagedTable, match="f" * 64):
        reading.texts(book.warehouse, NAMESPACE, [*part.episodes, lost])
