"""The rows of the Iceberg tables as values: a field here is a field there, by name.

Times are microseconds since the epoch, UTC. Rows carry the id of their commit and no seq: a
row counts if and only if the ledger holds its commit, and seq, time and author are read there.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class CommitKind(StrEnum):
    """What a commit did.  Source: specification, section 8."""

    WRITE = "write"
    SCHEMA = "schema"
    CLOSE = "close"
    BRANCH = "branch"
    MERGE = "merge"
    LOAD = "load"
    DREAM = "dream"
    TOMBSTONE = "tombstone"
    ACL = "acl"
    ERASE = "erase"
    EXPIRE = "expire"
    COMPACT = "compact"


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """An episode becoming live on a branch; `acl` is the one that held then."""

    episode_id: str
    commit_id: str
    branch_id: int
    source: str
    episode_type: str
    document: str | None
    version_of: str | None
    occurred_at: int
    recorded_at: int
    body_sha256: str
    body_len: int
    author: str | None
    acl: tuple[str, ...]
    about: tuple[str, ...]
    tags: tuple[str, ...]
    meta: str | None
    origin_commit_id: str | None


@dataclass(frozen=True, slots=True)
class BodyRecord:
    """A body under its hash: in the row, or in a blob file under the warehouse."""

    sha256: str
    commit_id: str
    body_len: int
    body: str | None
    blob: str | None
    codec: str | None
    recorded_at: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """An episode, and a unit of it, that a fact cites."""

    episode_id: str
    unit: int | None


@dataclass(frozen=True, slots=True)
class FactRecord:
    """One assertion with its evidence as asserted, or a closure."""

    fact_id: str
    commit_id: str
    branch_id: int
    entity: str
    entity_type: str | None
    predicate: str
    value: str | None
    value_type: str | None
    value_key: str | None
    value_num: float | None
    value_ts: int | None
    valid_from: int | None
    valid_to: int | None
    closes: bool
    closes_fact_id: str | None
    quote: str | None
    quote_unit: int | None
    evidence: tuple[Evidence, ...]
    written_by: str
    confidence: float | None
    recorded_at: int
    schema_version: int | None
    meta: str | None
    origin_commit_id: str | None


@dataclass(frozen=True, slots=True)
class TombstoneRecord:
    """An episode going from a branch."""

    episode_id: str
    commit_id: str
    branch_id: int
    mode: str
    reason_episode_id: str | None
    author: str | None
    recorded_at: int
    meta: str | None
    origin_commit_id: str | None


@dataclass(frozen=True, slots=True)
class SchemaRecord:
    """A version of what types a scope."""

    commit_id: str
    branch_id: int
    name: str
    version: int
    body: str
    body_sha256: str
    author: str | None
    recorded_at: int
    origin_commit_id: str | None


@dataclass(frozen=True, slots=True)
class AclChangeRecord:
    """An amendment; rights stand outside branches."""

    episode_id: str
    commit_id: str
    acl: tuple[str, ...]
    expected_acl: tuple[str, ...]
    author: str
    reason: str | None
    recorded_at: int


@dataclass(frozen=True, slots=True)
class LedgerRecord:
    """A commit: one link of the one chain of the whole server."""

    seq: int
    commit_id: str
    parent_seq: int | None
    prev_hash: str
    scope: str
    branch_id: int
    branch: str
    kind: str
    from_branch_id: int | None
    from_seq: int | None
    committed_at: int
    author: str
    batch_id: str
    job_id: str | None
    message: str | None
    episode_count: int
    fact_count: int
    payload_hash: str
    schema_version: int | None
    episodes_snapshot: int | None
    facts_snapshot: int | None
    meta: str | None


ScopeRecord: TypeAlias = (
    EpisodeRecord | BodyRecord | FactRecord | TombstoneRecord | SchemaRecord | AclChangeRecord
)
"""A row of one of a scope's tables."""
