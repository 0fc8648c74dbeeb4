"""Writes data files before any lock: Parquet with the layout's ids, and bounds for manifests."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import pyarrow as pa
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
from memory.tables.files import location, whole_or_gone
from memory.tables.layouts import BOUNDED, LAYOUTS

ROW_GROUP: Final = 20_000
_DICTIONARY_ROWS: Final = 64
"""Below so many rows a dictionary page costs more than it saves."""

_TINY: Final = 16 * 2**10
"""Below so many bytes packing costs a fourth of the encoding and saves less than a block."""


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
    """A scope's data files, written and not yet durable.

    Args:
        blobs: places of the long bodies that its rows name.
    """

    namespace: str
    files: Mapping[str, DataFile]
    blobs: tuple[str, ...] = ()


def data_folder(root: Path, *, namespace: str, table: str) -> Path:
    """Return the folder a table lives in."""
    return root / namespace / table


def write_records(
    root: Path, namespace: str, table: str, records: Sequence[ScopeRecord | LedgerRecord]
) -> DataFile:
    """Write records as one data file."""
    rows = to_arrow(table, records)
    # Into memory first: a Python file as the sink doubles what a small file costs.
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, row_group_size=ROW_GROUP, **writing(rows.num_rows, rows.nbytes))
    content = sink.getvalue()
    path = new_path(root, namespace, table)
    with whole_or_gone(path):
        try:
            path.write_bytes(content)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    lower, upper = _bounds(table, records)
    return DataFile(location(path), rows.num_rows, content.size, lower, upper)


def new_path(root: Path, namespace: str, table: str) -> Path:
    """Return a name for a data file that no other has."""
    folder = data_folder(root, namespace=namespace, table=table) / "data"
    return folder / f"{secrets.token_hex(16)}.parquet"


def writing(rows: int, size: int) -> dict[str, Any]:
    """Return how Parquet is written, for so many rows and so many bytes in memory."""
    return {
        "compression": "zstd" if size > _TINY else "none",
        "use_dictionary": rows > _DICTIONARY_ROWS,
        "write_statistics": ["commit_id"],
        "store_schema": False,
    }


def _bounds(
    table: str, records: Sequence[ScopeRecord | LedgerRecord]
) -> tuple[dict[int, bytes], dict[int, bytes]]:
    """Return the least and greatest value of the columns that have bounds, by field id."""
    lower, upper = {}, {}
    for number, name, kind in bounded(table):
        values = [getattr(record, name) for record in records]
        lower[number] = to_bytes(kind, min(values))
        upper[number] = to_bytes(kind, max(values))
    return lower, upper


@cache
def bounded(table: str) -> tuple[tuple[int, str, PrimitiveType], ...]:
    """Return field id, name and type of the columns of a table that have bounds."""
    return tuple(
        (field.field_id, field.name, cast("PrimitiveType", field.field_type))
        for field in LAYOUTS[table].fields
        if field.name in BOUNDED
    )
