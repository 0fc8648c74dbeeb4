"""Writes data files before any lock: Parquet with the layout's ids, and bounds for manifests."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.conversions import to_bytes
from pyiceberg.types import PrimitiveType

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

Extremes: TypeAlias = Mapping[str, tuple[Any, Any]]
"""The least and greatest value of some columns, by name."""


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
    files: Mapping[str, DataFile]


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
    # Into memory first: a Python file as the sink doubles what a small file costs.
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, row_group_size=ROW_GROUP, **writing(rows.num_rows))
    content = sink.getvalue()
    path = new_path(root, namespace, table)
    try:
        path.write_bytes(content)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    lower, upper = bounds(table, [extremes(rows)])
    return DataFile(location(path), rows.num_rows, content.size, lower, upper)


def new_path(root: Path, namespace: str, table: str) -> Path:
    """Return a name for a data file that no other has."""
    folder = data_folder(root, namespace=namespace, table=table) / "data"
    return folder / f"{secrets.token_hex(16)}.parquet"


def writing(rows: int) -> dict[str, Any]:
    """Return how Parquet is written, for so many rows."""
    return {
        "compression": "zstd",
        "use_dictionary": rows > _DICTIONARY_ROWS,
        "write_statistics": ["commit_id"],
        "store_schema": False,
    }


def extremes(rows: pa.Table) -> Extremes:
    """Return the least and greatest value of each column that manifests bound."""
    found = {}
    for name in BOUNDED:
        if name in rows.column_names:
            column = rows.column(name)
            if pa.types.is_timestamp(column.type):
                column = column.cast(pa.int64())
            values = pc.min_max(column)
            found[name] = (values["min"].as_py(), values["max"].as_py())
    return found


def bounds(table: str, parts: Sequence[Extremes]) -> tuple[dict[int, bytes], dict[int, bytes]]:
    """Return the lower and upper bounds, by field id, of rows whose parts have these extremes."""
    lower, upper = {}, {}
    for name in parts[0]:
        field = LAYOUTS[table].find_field(name)
        kind = cast("PrimitiveType", field.field_type)
        lower[field.field_id] = to_bytes(kind, min(part[name][0] for part in parts))
        upper[field.field_id] = to_bytes(kind, max(part[name][1] for part in parts))
    return lower, upper
