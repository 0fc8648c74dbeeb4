"""Records to Arrow and back: the only place that knows both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, Final, TypeVar

import pyarrow as pa
from pyiceberg.io.pyarrow import schema_to_pyarrow

from memory.domain.records import (
    AclChangeRecord,
    BodyRecord,
    EpisodeRecord,
    Evidence,
    FactRecord,
    LedgerRecord,
    SchemaRecord,
    ScopeRecord,
    TombstoneRecord,
)
from memory.tables.layouts import LAYOUTS, LEDGER

RECORDS: Final[Mapping[str, type[ScopeRecord] | type[LedgerRecord]]] = {
    "episodes": EpisodeRecord,
    "bodies": BodyRecord,
    "facts": FactRecord,
    "tombstones": TombstoneRecord,
    "schemas": SchemaRecord,
    "acl_changes": AclChangeRecord,
    LEDGER: LedgerRecord,
}

R = TypeVar("R", bound=ScopeRecord | LedgerRecord)


@cache
def arrow_schema(table: str) -> pa.Schema:
    """Return a table's Arrow schema, with the layout's field ids for Parquet."""
    return schema_to_pyarrow(LAYOUTS[table], include_field_ids=True)


def to_arrow(table: str, records: Sequence[ScopeRecord | LedgerRecord]) -> pa.Table:
    """Return records as rows of a table, in their order."""
    schema = arrow_schema(table)
    if not records:
        return schema.empty_table()
    columns = []
    # All fields of a record at once: reading them one by one is half of what a load's rows cost.
    rows = map(attrgetter(*schema.names), records)
    for field, held in zip(schema, zip(*rows, strict=True), strict=True):
        values: Sequence[Any] = held
        if field.name == "evidence":
            values = [
                [{"episode_id": cite.episode_id, "unit": cite.unit} for cite in cites]
                for cites in held
            ]
        columns.append(pa.array(values, type=field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def from_arrow(record: type[R], rows: pa.Table | pa.RecordBatch) -> Iterator[R]:
    """Yield the rows of a table as records of one kind."""
    names = [field.name for field in fields(record)]
    columns = [_values(rows.column(name)) for name in names]
    for values in zip(*columns, strict=True):
        yield record(*values)


def _values(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    kind = column.type
    if pa.types.is_timestamp(kind):
        column = column.cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    values: list[Any] = column.to_pylist()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [_tuple(value) for value in values]
    return values


def _tuple(value: Sequence[Any] | None) -> tuple[Any, ...]:
    if not value:
        return ()
    if isinstance(value[0], dict):
        return tuple(Evidence(item["episode_id"], item["unit"]) for item in value)
    return tuple(value)
