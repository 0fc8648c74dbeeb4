"""Writes the rows of many data files as one, a row group at a time in memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.conversions import from_bytes

from memory.tables.arrow import arrow_schema
from memory.tables.avro import DataFile
from memory.tables.encode import ROW_GROUP, bounded, new_path, writing
from memory.tables.files import location, whole_or_gone
from memory.tables.scan import read_groups

_GROUP_BYTES: Final = 32 * 2**20
"""Rows are written out once they take so much memory, full group or not."""


def rewrite(root: Path, namespace: str, table: str, files: Sequence[DataFile]) -> DataFile:
    """Write the rows of data files, in their order, as one; not durable yet."""
    path = new_path(root, namespace, table)
    rows = sum(file.rows for file in files)
    size = sum(file.size for file in files)
    with (
        whole_or_gone(path),
        pq.ParquetWriter(path, arrow_schema(table), **writing(rows, size)) as writer,
    ):
        for group in _groups(read_groups(file.path, table) for file in files):
            writer.write_table(group, row_group_size=ROW_GROUP)
    return DataFile(
        location(path),
        rows,
        path.stat().st_size,
        lower=_widest(table, [file.lower for file in files], least=True),
        upper=_widest(table, [file.upper for file in files], least=False),
    )


def _widest(table: str, bounds: Sequence[Mapping[int, bytes]], *, least: bool) -> dict[int, bytes]:
    """Return bounds that hold for all files, of the columns that all have bounds of."""
    widest = {}
    for number, _, kind in bounded(table):
        if all(number in each for each in bounds):
            values = [(from_bytes(kind, each[number]), each[number]) for each in bounds]
            widest[number] = (min(values) if least else max(values))[1]
    return widest


def _groups(files: Iterable[Iterable[pa.Table]]) -> Iterator[pa.Table]:
    """Yield the rows in groups of about the size a row group has."""
    held: list[pa.Table] = []
    rows = size = 0
    for file in files:
        for part in file:
            held.append(part)
            rows, size = rows + part.num_rows, size + part.nbytes
            if rows >= ROW_GROUP or size >= _GROUP_BYTES:
                yield pa.concat_tables(held).combine_chunks()
                held, rows, size = [], 0, 0
    if held:
        yield pa.concat_tables(held).combine_chunks()
