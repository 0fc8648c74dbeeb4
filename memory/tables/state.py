"""A table's present state in memory: metadata, manifests, and what is known of their files."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from pyiceberg.schema import Schema

from memory.domain.errors import CatalogBehind
from memory.tables.avro import (
    DataFile,
    Manifest,
    read_list,
    read_manifest,
)
from memory.tables.files import local_path, location
from memory.tables.layouts import PROPERTIES


@dataclass(frozen=True, slots=True)
class TableState:
    """One version of a table.

    Args:
        location: URI of the metadata file; None for a table that is not there yet.
        version: the number in the metadata file's name.
        metadata: Iceberg's metadata as JSON, never changed in place.
        manifests: oldest first.
        entries: the data files of manifests, by path: a memo of immutable files, filled as
            they are read.
    """

    namespace: str
    table: str
    folder: Path
    layout: Schema
    location: str | None
    version: int
    metadata: Mapping[str, Any]
    manifests: tuple[Manifest, ...]
    entries: dict[str, tuple[DataFile, ...]]

    @property
    def sequence(self) -> int:
        """The newest sequence number."""
        return int(self.metadata["last-sequence-number"])

    @property
    def snapshot_id(self) -> int | None:
        """The present snapshot."""
        current = self.metadata["current-snapshot-id"]
        return None if current in {None, -1} else int(current)

    @property
    def summary(self) -> Mapping[str, str]:
        """What the present snapshot's commit said of itself."""
        for snapshot in self.metadata["snapshots"]:
            if snapshot["snapshot-id"] == self.snapshot_id:
                return dict(snapshot["summary"])
        return {}

    def files_of(self, manifest: Manifest) -> tuple[DataFile, ...]:
        """Return the data files of a manifest, from memory or from its file."""
        known = self.entries.get(manifest.path)
        if known is None:
            known = tuple(read_manifest(local_path(manifest.path).read_bytes(), manifest))
            self.entries[manifest.path] = known
        return known

    def files(self) -> list[DataFile]:
        """Return every data file, oldest first."""
        files = [file for manifest in self.manifests for file in self.files_of(manifest)]
        files.sort(key=lambda file: file.sequence or 0)
        return files


def new_table(namespace: str, table: str, *, folder: Path, layout: Schema) -> TableState:
    """Return the state of a table before its first version."""
    return TableState(
        namespace=namespace,
        table=table,
        folder=folder,
        layout=layout,
        location=None,
        version=-1,
        metadata={
            "format-version": 2,
            "table-uuid": new_uuid(),
            "location": location(folder),
            "last-sequence-number": 0,
            "last-updated-ms": 0,
            "last-column-id": layout.highest_field_id,
            "current-schema-id": 0,
            "schemas": [orjson.loads(layout.model_dump_json())],
            "default-spec-id": 0,
            "partition-specs": [{"spec-id": 0, "fields": []}],
            "last-partition-id": 999,
            "default-sort-order-id": 0,
            "sort-orders": [{"order-id": 0, "fields": []}],
            "properties": dict(PROPERTIES),
            "current-snapshot-id": None,
            "snapshots": [],
            "snapshot-log": [],
            "metadata-log": [],
            "refs": {},
        },
        manifests=(),
        entries={},
    )


def load_table(
    namespace: str,
    table: str,
    *,
    folder: Path,
    layout: Schema,
    at: str,
    before: TableState | None = None,
) -> TableState:
    """Read the state that a metadata file describes.

    Args:
        before: a version that was in memory; what it knows of manifests is taken over, so that
            processes that alternate do not read each other's manifests again and again.
    """
    metadata = orjson.loads(local_path(at).read_bytes())
    manifests: tuple[Manifest, ...] = ()
    for snapshot in metadata["snapshots"]:
        if snapshot["snapshot-id"] == metadata.get("current-snapshot-id"):
            manifests = tuple(read_list(local_path(snapshot["manifest-list"]).read_bytes()))
    known = before.entries if before else {}
    return TableState(
        namespace=namespace,
        table=table,
        folder=folder,
        layout=layout,
        location=at,
        version=version_of(at),
        metadata=metadata,
        manifests=tuple(sorted(manifests, key=lambda manifest: manifest.min_sequence)),
        entries={held.path: known[held.path] for held in manifests if held.path in known},
    )


def newest_version(folder: Path) -> int:
    """Return the newest version whose metadata a table's folder holds; 0 if it holds none.

    Without the landing lock it is looked at before the catalog is asked: what lands between the
    two must not look like a catalog that is behind.
    """
    versions = (folder / "metadata").glob("*.metadata.json")
    return max((version_of(path.name) for path in versions), default=0)


def check_catalog(state: TableState, *, newest: int) -> None:
    """Refuse a state that the catalog names while the table's folder holds newer ones.

    One version more is what a landing leaves that died before its commit.

    Args:
        newest: of the table's folder, as `newest_version` returns it.

    Raises:
        CatalogBehind: the catalog is an older backup.
    """
    if newest > state.version + 1:
        message = (
            f"The warehouse holds version {newest} of {state.namespace}.{state.table} and the"
            f" catalog knows {state.version}: it is an older backup. Stop the servers and run"
            " `ampup-memory catalog recover`."
        )
        raise CatalogBehind(message)


def version_of(metadata_location: str) -> int:
    """Return the number a metadata file's name begins with."""
    return int(metadata_location.rpartition("/")[2].partition("-")[0])


def new_uuid() -> str:
    """Return a random UUID of version 4."""
    digits = secrets.token_hex(16)
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
