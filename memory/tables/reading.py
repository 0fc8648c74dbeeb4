"""Reads rows back from the files: by commit, whole tables, bodies by hash, the ledger in order."""

from collections.abc import Collection, Iterator
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.conversions import from_bytes
from pyiceberg.types import LongType, StringType

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
from memory.tables.arrow import arrow_schema, from_arrow
from memory.tables.avro import DataFile
from memory.tables.catalog import read_pointers
from memory.tables.encode import ScopePart
from memory.tables.files import local_path
from memory.tables.layouts import LAYOUTS, LEDGER
from memory.tables.state import TableState
from memory.tables.warehouse import LEDGER_KEY, Warehouse

R = TypeVar("R", bound=ScopeRecord | LedgerRecord)


def ledger_rows(
    warehouse: Warehouse, *, from_seq: int = 1, to_seq: int | None = None
) -> Iterator[LedgerRecord]:
    """Yield the ledger's rows in order of seq; the table is read as it is at the first row."""
    state = _state(warehouse, *LEDGER_KEY)
    for file in state.files():
        if not _reaches(file, from_seq=from_seq, to_seq=to_seq):
            continue
        rows = _read(file.path, "ledger")
        seqs = rows.column("seq")
        wanted = pc.greater_equal(seqs, from_seq)
        if to_seq is not None:
            wanted = pc.and_(wanted, pc.less_equal(seqs, to_seq))
        yield from from_arrow(LedgerRecord, rows.filter(wanted).sort_by("seq"))


def read_part(warehouse: Warehouse, namespace: str, commit_ids: Collection[str]) -> ScopePart:
    """Return a scope's rows of these commits; of bodies, those the commits wrote."""
    return ScopePart(
        namespace=namespace,
        episodes=tuple(_rows(warehouse, EpisodeRecord, namespace, "episodes", commit_ids)),
        bodies=tuple(_rows(warehouse, BodyRecord, namespace, "bodies", commit_ids)),
        facts=tuple(_rows(warehouse, FactRecord, namespace, "facts", commit_ids)),
        tombstones=tuple(_rows(warehouse, TombstoneRecord, namespace, "tombstones", commit_ids)),
        schemas=tuple(_rows(warehouse, SchemaRecord, namespace, "schemas", commit_ids)),
        acl_changes=tuple(_rows(warehouse, AclChangeRecord, namespace, "acl_changes", commit_ids)),
    )


def tombstones(warehouse: Warehouse, namespace: str) -> Iterator[TombstoneRecord]:
    """Yield all of a scope's tombstones, landed or not."""
    return _rows(warehouse, TombstoneRecord, namespace, "tombstones", None)


def acl_changes(warehouse: Warehouse, namespace: str) -> Iterator[AclChangeRecord]:
    """Yield all of a scope's amendments, landed or not."""
    return _rows(warehouse, AclChangeRecord, namespace, "acl_changes", None)


def bodies(warehouse: Warehouse, namespace: str, sha256s: Collection[str]) -> dict[str, str]:
    """Return the texts of these bodies, from rows or blobs.

    Files are read newest first and only until all are found, so the bodies of late commits
    cost no walk through old ones.
    """
    wanted = set(sha256s)
    texts: dict[str, str] = {}
    if not wanted:
        return texts
    for file in reversed(_state(warehouse, namespace, "bodies").files()):
        rows = _read(file.path, "bodies", columns=["sha256", "body", "blob"])
        rows = rows.filter(pc.is_in(rows.column("sha256"), pa.array(sorted(wanted))))
        columns = (rows.column(name).to_pylist() for name in ("sha256", "body", "blob"))
        for sha256, body, blob in zip(*columns, strict=True):
            texts[sha256] = body if blob is None else warehouse.files.read_blob(blob, sha256=sha256)
        wanted -= texts.keys()
        if not wanted:
            break
    return texts


def _rows(
    warehouse: Warehouse,
    record: type[R],
    namespace: str,
    table: str,
    commit_ids: Collection[str] | None,
) -> Iterator[R]:
    state = _state(warehouse, namespace, table)
    wanted = None if commit_ids is None else pa.array(sorted(commit_ids), pa.string())
    for file in state.files():
        if commit_ids is not None and not _may_hold(file, table, commit_ids):
            continue
        rows = _read(file.path, table)
        if wanted is not None:
            rows = rows.filter(pc.is_in(rows.column("commit_id"), wanted))
        yield from from_arrow(record, rows)


def _may_hold(file: DataFile, table: str, commit_ids: Collection[str]) -> bool:
    number = LAYOUTS[table].find_field("commit_id").field_id
    if number not in file.lower:
        return True
    low = from_bytes(StringType(), file.lower[number])
    high = from_bytes(StringType(), file.upper[number])
    return any(low <= commit_id <= high for commit_id in commit_ids)


def _reaches(file: DataFile, *, from_seq: int, to_seq: int | None) -> bool:
    number = LAYOUTS[LEDGER].find_field("seq").field_id
    if number not in file.lower:
        return True
    low = from_bytes(LongType(), file.lower[number])
    high = from_bytes(LongType(), file.upper[number])
    return high >= from_seq and (to_seq is None or low <= to_seq)


def _read(path: str, table: str, *, columns: list[str] | None = None) -> pa.Table:
    """Read a data file; columns that came after it was written are null."""
    rows = pq.read_table(local_path(path), columns=columns, partitioning=None)
    for field in arrow_schema(table):
        if field.name not in rows.column_names and (columns is None or field.name in columns):
            rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
    return rows


def _state(warehouse: Warehouse, namespace: str, table: str) -> TableState:
    with warehouse.connected() as connection:
        pointers = read_pointers(connection, [namespace])
    return warehouse.state((namespace, table), pointers)
