"""Manifests and manifest lists: Iceberg's Avro files, written and read by fastavro.

pyiceberg's own writer walks every field in Python; these few files are over half of what a
landing costs, so they go through a compiled one, with the schemas pyiceberg defines.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Final

import fastavro
from pyiceberg.manifest import (
    MANIFEST_LIST_FILE_SCHEMAS,
    data_file_with_partition,
    manifest_entry_schema_with_data_file,
)
from pyiceberg.schema import Schema
from pyiceberg.types import StructType
from pyiceberg.utils.schema_conversion import AvroSchemaConversion

ADDED: Final = 1
EXISTING: Final = 0
VERSION: Final = 2


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file of a table.

    Args:
        sequence: the table's sequence number when it was added; None until it is.
        snapshot_id: the snapshot that added it; None until it is.
        lower, upper: bounds by field id, in Iceberg's single-value form.
    """

    path: str
    rows: int
    size: int
    lower: Mapping[int, bytes]
    upper: Mapping[int, bytes]
    sequence: int | None = None
    snapshot_id: int | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest file as the manifest list names it.

    Args:
        added: how many of its files the snapshot that wrote it added; the rest were there.
    """

    path: str
    length: int
    snapshot_id: int
    sequence: int
    min_sequence: int
    added: int
    existing: int
    added_rows: int
    existing_rows: int

    @property
    def files(self) -> int:
        """How many data files it lists."""
        return self.added + self.existing


@cache
def _entry_schema() -> Any:
    data_file = data_file_with_partition(partition_type=StructType(), format_version=VERSION)
    schema = manifest_entry_schema_with_data_file(format_version=VERSION, data_file=data_file)
    converted = AvroSchemaConversion().iceberg_to_avro(schema, schema_name="manifest_entry")
    return fastavro.parse_schema(converted)


@cache
def _list_schema() -> Any:
    schema = MANIFEST_LIST_FILE_SCHEMAS[VERSION]
    converted = AvroSchemaConversion().iceberg_to_avro(schema, schema_name="manifest_file")
    return fastavro.parse_schema(converted)


def manifest_bytes(files: Sequence[DataFile], *, layout: Schema, snapshot_id: int) -> bytes:
    """Return a manifest: the files without a sequence were added by this snapshot."""
    out = io.BytesIO()
    fastavro.writer(
        out,
        _entry_schema(),
        [_entry(file, snapshot_id) for file in files],
        metadata=_manifest_metadata(layout),
        validator=False,
    )
    return out.getvalue()


def list_bytes(
    manifests: Sequence[Manifest], *, snapshot_id: int, parent: int | None, sequence: int
) -> bytes:
    """Return the manifest list of a snapshot."""
    out = io.BytesIO()
    fastavro.writer(
        out,
        _list_schema(),
        [_listed(manifest) for manifest in manifests],
        metadata={
            "snapshot-id": str(snapshot_id),
            "parent-snapshot-id": str(parent) if parent is not None else "null",
            "sequence-number": str(sequence),
            "format-version": str(VERSION),
        },
        validator=False,
    )
    return out.getvalue()


def read_manifest(content: bytes, manifest: Manifest) -> list[DataFile]:
    """Return the live files of a manifest; what it leaves out is inherited from the list."""
    files = []
    for entry in _records(content):
        if entry["status"] not in {ADDED, EXISTING}:
            continue
        held = entry["data_file"]
        sequence = entry["sequence_number"]
        snapshot_id = entry["snapshot_id"]
        files.append(
            DataFile(
                path=held["file_path"],
                rows=held["record_count"],
                size=held["file_size_in_bytes"],
                lower=_map(held["lower_bounds"]),
                upper=_map(held["upper_bounds"]),
                sequence=manifest.sequence if sequence is None else sequence,
                snapshot_id=manifest.snapshot_id if snapshot_id is None else snapshot_id,
            )
        )
    return files


def read_list(content: bytes) -> list[Manifest]:
    """Return the manifests a list names."""
    return [
        Manifest(
            path=held["manifest_path"],
            length=held["manifest_length"],
            snapshot_id=held["added_snapshot_id"],
            sequence=held["sequence_number"],
            min_sequence=held["min_sequence_number"],
            added=held["added_files_count"],
            existing=held["existing_files_count"],
            added_rows=held["added_rows_count"],
            existing_rows=held["existing_rows_count"],
        )
        for held in _records(content)
    ]


def _records(content: bytes) -> Iterator[Any]:
    yield from fastavro.reader(io.BytesIO(content))


def landed(files: Sequence[DataFile], *, sequence: int, snapshot_id: int) -> list[DataFile]:
    """Return new files as they stand once their snapshot is in the table."""
    return [
        file
        if file.sequence is not None
        else replace(file, sequence=sequence, snapshot_id=snapshot_id)
        for file in files
    ]


@cache
def _manifest_metadata_text(schema_json: str) -> dict[str, str]:
    return {
        "schema": schema_json,
        "partition-spec": "[]",
        "partition-spec-id": "0",
        "format-version": str(VERSION),
        "content": "data",
    }


_schema_json: dict[int, str] = {}


def _manifest_metadata(layout: Schema) -> dict[str, str]:
    text = _schema_json.get(id(layout))
    if text is None:
        text = _schema_json[id(layout)] = layout.model_dump_json()
    return _manifest_metadata_text(text)


def _entry(file: DataFile, snapshot_id: int) -> dict[str, object]:
    new = file.sequence is None
    return {
        "status": ADDED if new else EXISTING,
        "snapshot_id": snapshot_id if new else file.snapshot_id,
        "sequence_number": file.sequence,
        "file_sequence_number": file.sequence,
        "data_file": {
            "content": 0,
            "file_path": file.path,
            "file_format": "PARQUET",
            "partition": {},
            "record_count": file.rows,
            "file_size_in_bytes": file.size,
            "column_sizes": None,
            "value_counts": None,
            "null_value_counts": None,
            "nan_value_counts": None,
            "lower_bounds": _pairs(file.lower),
            "upper_bounds": _pairs(file.upper),
            "key_metadata": None,
            "split_offsets": None,
            "equality_ids": None,
            "sort_order_id": 0,
        },
    }


@lru_cache(maxsize=10_000)
def _listed(manifest: Manifest) -> Mapping[str, object]:
    return {
        "manifest_path": manifest.path,
        "manifest_length": manifest.length,
        "partition_spec_id": 0,
        "content": 0,
        "sequence_number": manifest.sequence,
        "min_sequence_number": manifest.min_sequence,
        "added_snapshot_id": manifest.snapshot_id,
        "added_files_count": manifest.added,
        "existing_files_count": manifest.existing,
        "deleted_files_count": 0,
        "added_rows_count": manifest.added_rows,
        "existing_rows_count": manifest.existing_rows,
        "deleted_rows_count": 0,
        "partitions": [],
        "key_metadata": None,
    }


def _pairs(bounds: Mapping[int, bytes]) -> list[dict[str, object]]:
    return [{"key": key, "value": value} for key, value in bounds.items()]


def _map(pairs: Sequence[Mapping[str, Any]] | None) -> dict[int, bytes]:
    return {pair["key"]: pair["value"] for pair in pairs or ()}
