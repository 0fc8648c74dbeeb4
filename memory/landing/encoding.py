"""Turns a planned batch into records and Parquet files, before any lock is taken."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from memory.domain.chain import payload_hash
from memory.domain.change import PreparedEpisode, Write
from memory.domain.ids import CommitId
from memory.domain.landing import Addition, Amendment, Effect, Plan, Removal
from memory.domain.records import (
    AclChangeRecord,
    BodyRecord,
    EpisodeRecord,
    TombstoneRecord,
)
from memory.tables.encode import EncodedPart, ScopePart
from memory.tables.warehouse import Warehouse

MapParts: TypeAlias = Callable[
    [Callable[[ScopePart], EncodedPart], Sequence[ScopePart]], Iterable[EncodedPart]
]
Record: TypeAlias = EpisodeRecord | BodyRecord | TombstoneRecord | AclChangeRecord


@dataclass(slots=True)
class _Rows:
    episodes: list[EpisodeRecord] = field(default_factory=list)
    bodies: list[BodyRecord] = field(default_factory=list)
    tombstones: list[TombstoneRecord] = field(default_factory=list)
    acl_changes: list[AclChangeRecord] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class EncodedBatch:
    """A plan's records, encoded.

    Args:
        parts: one a touched scope.
        payloads: for each commit, the hash over its records.
        added: for each commit, its episodes as records, with what the index needs.
    """

    plan: Plan
    parts: tuple[EncodedPart, ...]
    payloads: Mapping[CommitId, str]
    added: Mapping[CommitId, tuple[tuple[EpisodeRecord, PreparedEpisode], ...]]


def body_hashes(plan: Plan) -> dict[str, set[str]]:
    """Return the body hashes that a plan adds, for each scope."""
    hashes: dict[str, set[str]] = defaultdict(set)
    for effect in plan.effects:
        if isinstance(effect, Addition):
            hashes[effect.write.namespace].add(effect.episode.body_sha256)
    return hashes


def encode_batch(
    warehouse: Warehouse,
    plan: Plan,
    *,
    present_bodies: Mapping[str, frozenset[str]],
    map_parts: MapParts,
) -> EncodedBatch:
    """Write the Parquet files of a plan.

    Args:
        present_bodies: for each scope, the bodies it holds already: they are not written again.
        map_parts: `map`, or a pool's: scopes are independent of each other.

    Raises:
        OSError: a file could not be written; none of the others is left.
    """
    scopes: dict[str, _Rows] = defaultdict(_Rows)
    payloads: dict[CommitId, list[tuple[str, str, Record]]] = defaultdict(list)
    added: dict[CommitId, list[tuple[EpisodeRecord, PreparedEpisode]]] = defaultdict(list)
    written: dict[str, set[str]] = defaultdict(set)
    for effect in plan.effects:
        namespace, commit_id = effect.write.namespace, effect.write.commit_id
        rows, payload = scopes[namespace], payloads[commit_id]
        if isinstance(effect, Addition):
            record = _episode(effect)
            rows.episodes.append(record)
            payload.append(("episodes", record.episode_id, record))
            added[commit_id].append((record, effect.episode))
            sha256 = effect.episode.body_sha256
            if sha256 not in present_bodies.get(namespace, ()) and sha256 not in written[namespace]:
                written[namespace].add(sha256)
                body = _body(effect)
                rows.bodies.append(body)
                payload.append(("bodies", body.sha256, body))
        else:
            _change(effect, rows, payload)
    parts = tuple(
        ScopePart(
            namespace=namespace,
            episodes=tuple(rows.episodes),
            bodies=tuple(rows.bodies),
            tombstones=tuple(rows.tombstones),
            acl_changes=tuple(rows.acl_changes),
        )
        for namespace, rows in scopes.items()
    )
    return EncodedBatch(
        plan=plan,
        parts=_encode_all(warehouse, parts, map_parts),
        payloads={commit_id: payload_hash(rows) for commit_id, rows in payloads.items()},
        added={commit_id: tuple(rows) for commit_id, rows in added.items()},
    )


def _encode_all(
    warehouse: Warehouse, parts: Sequence[ScopePart], map_parts: MapParts
) -> tuple[EncodedPart, ...]:
    """Encode all parts, or leave no file of any."""
    failures: list[Exception] = []

    def attempt(part: ScopePart) -> EncodedPart:
        try:
            return warehouse.encode(part)
        except Exception as error:  # noqa: BLE001 -- raised below, once no other part is being written
            failures.append(error)
            return EncodedPart(part.namespace, {})

    encoded = tuple(map_parts(attempt, parts))
    if failures:
        warehouse.discard(encoded)
        raise failures[0]
    return encoded


def _change(effect: Effect, rows: _Rows, payload: list[tuple[str, str, Record]]) -> None:
    if isinstance(effect, Removal):
        tombstone = _tombstone(effect.write, effect)
        rows.tombstones.append(tombstone)
        payload.append(("tombstones", tombstone.episode_id, tombstone))
    elif isinstance(effect, Amendment):
        change = _acl_change(effect.write, effect)
        rows.acl_changes.append(change)
        payload.append(("acl_changes", change.episode_id, change))


def _episode(addition: Addition) -> EpisodeRecord:
    episode = addition.episode
    return EpisodeRecord(
        episode_id=episode.episode_id,
        commit_id=addition.write.commit_id,
        branch_id=addition.write.branch_id,
        source=episode.source,
        episode_type=episode.episode_type,
        document=episode.document,
        version_of=None,
        occurred_at=episode.occurred_at,
        recorded_at=episode.recorded_at,
        body_sha256=episode.body_sha256,
        body_len=episode.body_len,
        author=episode.author,
        acl=addition.present_acl,
        about=episode.about,
        tags=episode.tags,
        meta=episode.meta,
        origin_commit_id=None,
    )


def _body(addition: Addition) -> BodyRecord:
    episode = addition.episode
    return BodyRecord(
        sha256=episode.body_sha256,
        commit_id=addition.write.commit_id,
        body_len=episode.body_len,
        body=None if episode.blob else episode.body,
        blob=episode.blob,
        codec="zstd" if episode.blob else None,
        recorded_at=episode.recorded_at,
    )


def _tombstone(write: Write, removal: Removal) -> TombstoneRecord:
    change = removal.removal
    return TombstoneRecord(
        episode_id=change.episode_id,
        commit_id=write.commit_id,
        branch_id=write.branch_id,
        mode=change.mode,
        reason_episode_id=change.reason_episode_id,
        author=write.author,
        recorded_at=change.recorded_at,
        meta=change.meta,
        origin_commit_id=None,
    )


def _acl_change(write: Write, amendment: Amendment) -> AclChangeRecord:
    change = amendment.amendment
    return AclChangeRecord(
        episode_id=change.episode_id,
        commit_id=write.commit_id,
        acl=change.acl,
        expected_acl=change.expected,
        author=write.author,
        reason=change.reason,
        recorded_at=change.recorded_at,
    )
