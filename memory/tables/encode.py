"""Writes data files before any lock: Parquet with the layout's ids, and the bounds manifests need."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.conversions import to_bytes

from memory.domain.records import (
    AclChangeRecord,
    BodyRecord,
    EpisodeRecord,
    FactRecord,
    LedgerRecord,
    SchemaRecord,
    ScopeRecord,
    TombstoneRecord,
)
from memory.tables.arrow import to_arrow
from memory.tables.avro import DataFile
from memory.tables.files import location
from memory.tables.layouts import BOUNDED, LAYOUTS

ROW_GROUP: Final = 20_000
_DICTIONARY_ROWS: Final = 64
"""Below so many rows a dictionary page costs more than it saves."""


@dataclass(frozen=True, slots=True)
class ScopePart:
    """A batch's rows for one scope."""

    namespace: str
    episodes: tuple[EpisodeRecord, ...] = ()
    bodies: tuple[BodyRecord, ...] = ()
    facts: tuple[FactRecord, ...] = ()
    tombstones: tuple[TombstoneRecord, ...] = ()
    schemas: tuple[SchemaRecord, ...] = ()
    acl_changes: tuple[AclChangeRecord, ...] = ()

    def tables(self) -> list[tuple[str, Sequence[ScopeRecord]]]:
        """Return the tables that get rows, with them."""
        named: list[tuple[str, Sequence[ScopeRecord]]] = [
            ("episodes", self.episodes),
            ("bodies", self.bodies),
            ("facts", self.facts),
            ("tombstones", self.tombstones),
            ("schemas", self.schemas),
            ("acl_changes", self.acl_changes),
        ]
        return [(table, rows) for table, rows in named if rows]


@dataclass(frozen=True, slots=True)
class EncodedPart:
    """A scope's data files, written and not yet durable."""

    namespace: str
    files: dict[str, DataFile] = field(default_factory=dict)


def data_folder(root: Path, *, namespace: str, table: str) -> Path:
    """Return the folder a table lives in."""
    return root / namespace / table


def write_records(
    root: Path, namespace: str, table: str, records: Sequence[ScopeRecord | LedgerRecord]
) -> DataFile:
    """Write records as one data file."""
    return write_rows(root, namespace, table, to_arrow(table, records))


def write_rows(root: Path, namespace: str, table: str, rows: pa.Table) -> DataFile:
    """Write Arrow rows of a table as one data file."""
    folder = data_folder(root, namespace=namespace, table=table) / "data"
    path = folder / f"{secrets.token_hex(16)}.parquet"
    content = _parquet(rows)
    try:
        path.write_bytes(content)
    except FileNotFoundError:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    lower, upper = _bounds(table, rows)
    return DataFile(location(path), rows.num_rows, content.size, lower, upper)


def _parquet(rows: pa.Table) -> pa.Buffer:
    # Into memory first: a Python file as the sink doubles what a small file costs.
    sink = pa.BufferOutputStream()
    pq.write_table(
        rows,
        sink,
        compression="zstd",
        row_group_size=ROW_GROUP,
        use_dictionary=rows.num_rows > _DICTIONARY_ROWS,
        write_statistics=["commit_id"],
        store_schema=False,
    )
    return sink.getvalue()


def _bounds(table: str, rows: pa.Table) -> tuple[dict[int, bytes], dict[int, bytes]]:
    lower, upper = {}, {}
    layout = LAYOUTS[table]
    for name in BOUNDED:
        if name not in rows.column_names:
            continue
        number = layout.find_field(name).field_id
        column = rows.column(name)
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.int64())
        extremes = pc.min_max(column).as_py()
        kind = layout.find_type(name)
        lower[number] = to_bytes(kind, extremes["min"])
        upper[number] = to_bytes(kind, extremes["max"])
    return lower, upper
