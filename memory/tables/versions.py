"""A table's next version: files added or replaced, manifests in tiers, snapshots dropped.

The next version of an append costs the same after ten thousand commits as after ten: snapshots
beyond the newest twenty are dropped in the same swap, and manifests merge tier by tier, so that
one merge rewrites one tier and never the table.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from ampup_site.kernel.clock import Micros
from memory.tables.avro import DataFile, Manifest, landed, list_bytes, manifest_bytes
from memory.tables.files import location
from memory.tables.state import TableState, new_uuid

KEPT_SNAPSHOTS: Final = 20
KEPT_LOG: Final = 20
TIER: Final = 16
"""Manifests of a tier that are merged into one of the next: tiers hold about 16, 256, 4,096, …
entries, so each entry is rewritten once a tier. Every commit writes the list of manifests anew,
so a tier is kept short (docs/adr/0001)."""


@dataclass(frozen=True, slots=True)
class StagedTable:
    """The next version of a table, with its files not yet durable.

    Args:
        files: path and content of each new metadata file.
    """

    before: TableState
    after: TableState
    files: tuple[tuple[Path, bytes], ...]


def append(
    state: TableState, files: Sequence[DataFile], *, summary: Mapping[str, str], now: Micros
) -> StagedTable:
    """Return the next version of a table, with files added."""
    snapshot_id = _snapshot_id()
    sequence = state.sequence + 1
    folder = state.folder / "metadata"
    name = secrets.token_hex(16)
    fresh, entries, content = _write_manifest(
        state, files, path=folder / f"{name}-m0.avro", sequence=sequence, snapshot_id=snapshot_id
    )
    written = [content]
    manifests = [*state.manifests, fresh]
    known = {**state.entries, fresh.path: entries}
    merged = _tier_to_merge(manifests)
    if merged:
        rewritten, entries, content = _write_manifest(
            state,
            [
                file
                for manifest in merged
                for file in (files if manifest is fresh else state.files_of(manifest))
            ],
            path=folder / f"{name}-m1.avro",
            sequence=sequence,
            snapshot_id=snapshot_id,
        )
        if fresh in merged:
            written = []
        written.append(content)
        gone = {manifest.path for manifest in merged}
        manifests = [
            *(manifest for manifest in manifests if manifest.path not in gone),
            rewritten,
        ]
        manifests.sort(key=lambda manifest: manifest.min_sequence)
        known = {path: held for path, held in known.items() if path not in gone}
        known[rewritten.path] = entries
    return _next_version(
        state,
        manifests=tuple(manifests),
        entries=known,
        written=written,
        snapshot_id=snapshot_id,
        operation="append",
        summary={
            **summary,
            "added-data-files": str(len(files)),
            "added-records": str(sum(file.rows for file in files)),
        },
        now=now,
    )


def replace_files(
    state: TableState,
    old: Sequence[DataFile],
    new: Sequence[DataFile],
    *,
    summary: Mapping[str, str],
    now: Micros,
) -> StagedTable | None:
    """Return the next version with some files rewritten as others; None if any is gone."""
    paths = {file.path for file in old}
    snapshot_id = _snapshot_id()
    sequence = state.sequence + 1
    name = secrets.token_hex(16)
    manifests: list[Manifest] = []
    known = dict(state.entries)
    written: list[tuple[Path, bytes]] = []
    left: list[DataFile] = []
    found = 0
    for manifest in state.manifests:
        files = state.files_of(manifest)
        kept = [file for file in files if file.path not in paths]
        found += len(files) - len(kept)
        if len(kept) == len(files):
            manifests.append(manifest)
            continue
        known.pop(manifest.path, None)
        left.extend(kept)
    if found != len(paths):
        return None
    # Replaced rows keep their place in time: the new file takes the oldest sequence it holds.
    oldest = min(file.sequence or 0 for file in old)
    carried = [
        DataFile(
            path=file.path,
            rows=file.rows,
            size=file.size,
            lower=file.lower,
            upper=file.upper,
            sequence=oldest,
            snapshot_id=snapshot_id,
        )
        for file in new
    ]
    manifest, entries, content = _write_manifest(
        state,
        [*left, *carried],
        path=state.folder / "metadata" / f"{name}-m0.avro",
        sequence=sequence,
        snapshot_id=snapshot_id,
    )
    written.append(content)
    manifests.append(manifest)
    manifests.sort(key=lambda held: held.min_sequence)
    known[manifest.path] = entries
    return _next_version(
        state,
        manifests=tuple(manifests),
        entries=known,
        written=written,
        snapshot_id=snapshot_id,
        operation="replace",
        summary={**state_summary(state), **summary},
        now=now,
    )


def state_summary(state: TableState) -> dict[str, str]:
    """Return what our own commits say in a summary, to be carried over a rewrite."""
    return {key: value for key, value in state.summary.items() if key.startswith("memory.")}


def _next_version(
    state: TableState,
    *,
    manifests: tuple[Manifest, ...],
    entries: dict[str, tuple[DataFile, ...]],
    written: Sequence[tuple[Path, bytes]],
    snapshot_id: int,
    operation: str,
    summary: Mapping[str, str],
    now: Micros,
) -> StagedTable:
    sequence = state.sequence + 1
    folder = state.folder / "metadata"
    millis = max(now // 1000, int(state.metadata["last-updated-ms"]))
    list_path = folder / f"snap-{snapshot_id}-0-{secrets.token_hex(16)}.avro"
    listed = list_bytes(
        manifests, snapshot_id=snapshot_id, parent=state.snapshot_id, sequence=sequence
    )
    snapshot = {
        "snapshot-id": snapshot_id,
        "sequence-number": sequence,
        "timestamp-ms": millis,
        "manifest-list": location(list_path),
        "summary": {"operation": operation, **summary},
        "schema-id": 0,
    }
    if state.snapshot_id is not None:
        snapshot["parent-snapshot-id"] = state.snapshot_id
    snapshots = [*state.metadata["snapshots"], snapshot][-KEPT_SNAPSHOTS:]
    kept = {held["snapshot-id"] for held in snapshots}
    log = [
        *state.metadata["snapshot-log"],
        {"snapshot-id": snapshot_id, "timestamp-ms": millis},
    ]
    past = list(state.metadata["metadata-log"])
    if state.location is not None:
        past.append(
            {
                "metadata-file": state.location,
                "timestamp-ms": state.metadata["last-updated-ms"],
            }
        )
    metadata = {
        **state.metadata,
        "last-sequence-number": sequence,
        "last-updated-ms": millis,
        "current-snapshot-id": snapshot_id,
        "snapshots": snapshots,
        "snapshot-log": [held for held in log if held["snapshot-id"] in kept],
        "metadata-log": past[-KEPT_LOG:],
        "refs": {"main": {"snapshot-id": snapshot_id, "type": "branch"}},
    }
    version = state.version + 1
    path = folder / f"{version:05d}-{new_uuid()}.metadata.json"
    after = TableState(
        namespace=state.namespace,
        table=state.table,
        folder=state.folder,
        layout=state.layout,
        location=location(path),
        version=version,
        metadata=metadata,
        manifests=manifests,
        entries={held.path: entries[held.path] for held in manifests if held.path in entries},
    )
    files = (*written, (list_path, listed), (path, orjson.dumps(metadata)))
    return StagedTable(state, after, files)


def _write_manifest(
    state: TableState,
    files: Sequence[DataFile],
    *,
    path: Path,
    sequence: int,
    snapshot_id: int,
) -> tuple[Manifest, tuple[DataFile, ...], tuple[Path, bytes]]:
    content = manifest_bytes(files, layout=state.layout, snapshot_id=snapshot_id)
    new = [file for file in files if file.sequence is None]
    old = [file for file in files if file.sequence is not None]
    manifest = Manifest(
        path=location(path),
        length=len(content),
        snapshot_id=snapshot_id,
        sequence=sequence,
        min_sequence=min([sequence, *(file.sequence or 0 for file in old)]),
        added=len(new),
        existing=len(old),
        added_rows=sum(file.rows for file in new),
        existing_rows=sum(file.rows for file in old),
    )
    entries = landed(files, sequence=sequence, snapshot_id=snapshot_id)
    return manifest, tuple(entries), (path, content)


def _tier_to_merge(manifests: Sequence[Manifest]) -> list[Manifest]:
    """Return the manifests of the lowest tier that is full, oldest first; none if none is."""
    tiers: dict[int, list[Manifest]] = {}
    for manifest in manifests:
        tier, size = 0, manifest.files
        while size >= TIER:
            tier, size = tier + 1, size // TIER
        tiers.setdefault(tier, []).append(manifest)
    for tier in sorted(tiers):
        if len(tiers[tier]) >= TIER:
            return tiers[tier]
    return []


def _snapshot_id() -> int:
    return secrets.randbits(62) + 1
