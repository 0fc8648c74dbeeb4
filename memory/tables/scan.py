"""Reads data files: only those, and only the parts of them, that may hold what is asked for.

Commit ids rise with time and files keep the order of landing, so the bounds of `commit_id`
tell apart files, and row groups of large ones.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.conversions import from_bytes
from pyiceberg.types import LongType, StringType

from memory.tables.arrow import arrow_schema
from memory.tables.avro import DataFile
from memory.tables.files import local_path
from memory.tables.layouts import LAYOUTS, LEDGER

_COMMIT: Final = "commit_id"


def read_file(path: str, table: str) -> pa.Table:
    """Return all rows of a data file; columns that came after it was written are null."""
    return _completed(pq.read_table(local_path(path), partitioning=None), table)


def texts_of(path: Path, column: str) -> set[str]:
    """Return the values of one text column of a data file, but for null."""
    return set(pc.unique(read_columns(path, [column]).column(column).drop_null()).to_pylist())


def read_columns(path: Path, columns: Sequence[str]) -> pa.Table:
    """Return some columns of a data file, which it must have."""
    return pq.read_table(path, columns=list(columns), partitioning=None)


def read_groups(path: str, table: str) -> Iterator[pa.Table]:
    """Yield the row groups of a data file, with the layout's present columns in its order."""
    schema = arrow_schema(table)
    with pq.ParquetFile(local_path(path)) as held:
        for group in range(held.num_row_groups):
            rows = _completed(held.read_row_group(group), table)
            yield rows.select(schema.names).cast(schema)


def rows_of_commits(
    files: Iterable[DataFile], table: str, commit_ids: Collection[str]
) -> Iterator[pa.Table]:
    """Yield the rows of these commits, file by file."""
    ordered = sorted(commit_ids)
    wanted = pa.array(ordered, pa.string())
    for file in files:
        if not may_hold(file, table, ordered):
            continue
        with pq.ParquetFile(local_path(file.path)) as held:
            groups = _groups(held, ordered)
            if groups:
                rows = _completed(held.read_row_groups(groups), table)
                yield rows.filter(pc.is_in(rows.column(_COMMIT), wanted))


def rows_by_key(
    file: DataFile, *, key: str, wanted: Collection[str], columns: list[str]
) -> Iterator[pa.Table]:
    """Yield the rows whose key is wanted; of row groups without any, the key alone is read."""
    keys = pa.array(sorted(wanted), pa.string())
    with pq.ParquetFile(local_path(file.path)) as held:
        for group in range(held.num_row_groups):
            found = pc.is_in(held.read_row_group(group, columns=[key]).column(key), keys)
            if pc.any(found).as_py():
                yield held.read_row_group(group, columns=columns).filter(found)


def may_hold(file: DataFile, table: str, ordered: Sequence[str]) -> bool:
    """Say whether a file's bounds leave room for one of these commits, given in order."""
    number = LAYOUTS[table].find_field(_COMMIT).field_id
    if number not in file.lower:
        return True
    low = str(from_bytes(StringType(), file.lower[number]))
    high = str(from_bytes(StringType(), file.upper[number]))
    return _any_between(ordered, low, high)


def seq_bounds(file: DataFile) -> tuple[int, int] | None:
    """Return the lowest and highest seq of a file of the ledger, if its bounds are known."""
    number = LAYOUTS[LEDGER].find_field("seq").field_id
    if number not in file.lower:
        return None
    low = from_bytes(LongType(), file.lower[number])
    return int(low), int(from_bytes(LongType(), file.upper[number]))


def _groups(held: pq.ParquetFile, ordered: Sequence[str]) -> list[int]:
    count = held.num_row_groups
    if count == 1:
        return [0]
    column = held.schema_arrow.get_field_index(_COMMIT)
    groups = []
    for group in range(count):
        bounds = held.metadata.row_group(group).column(_leaf(held, column)).statistics
        known = bounds is not None and bounds.has_min_max
        if not known or _any_between(ordered, bounds.min, bounds.max):
            groups.append(group)
    return groups


def _leaf(held: pq.ParquetFile, column: int) -> int:
    """Return the number of a flat column among Parquet's leaves; it stands before any list."""
    path = held.metadata.schema.column(column).path
    if path != _COMMIT:
        message = f"{_COMMIT} is not where the layouts put it, but {path}"
        raise ValueError(message)
    return column


def _any_between(ordered: Sequence[str], low: str, high: str) -> bool:
    place = bisect_left(ordered, low)
    return place < len(ordered) and ordered[place] <= high


def _completed(rows: pa.Table, table: str) -> pa.Table:
    for field in arrow_schema(table):
        if field.name not in rows.column_names:
            rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
    return rows
