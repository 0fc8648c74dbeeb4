"""The ledger's chain: what a row's hash is taken over, and how one row follows another.

Source: specification, section 8; its vector is a test.
"""

from collections.abc import Iterable
from operator import attrgetter
from typing import Final

from ampup_site.kernel.canonical import Canonical, canonical_json, sha256_hex
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

GENESIS: Final = "0" * 64
"""What the first row names as the hash before it."""

HASHED_FIELDS: Final = (
    "seq",
    "commit_id",
    "prev_hash",
    "scope",
    "branch_id",
    "kind",
    "from_branch_id",
    "from_seq",
    "committed_at",
    "author",
    "job_id",
    "episode_count",
    "fact_count",
    "payload_hash",
    "schema_version",
)
"""Free text and the physical ids of tables stand outside, so that an erase breaks nothing."""


def row_hash(row: LedgerRecord) -> str:
    """Return the hash that the next row names as the one before it."""
    return sha256_hex(canonical_json({name: getattr(row, name) for name in HASHED_FIELDS}))


def payload_hash(rows: Iterable[tuple[str, str, ScopeRecord]]) -> str:
    """Return the hash over a commit's rows, given as (table, row id, row); order is no matter."""
    listed = sorted([table, row_id, _record_hash(record)] for table, row_id, record in rows)
    return sha256_hex(canonical_json(listed))


def chain_fault(before: LedgerRecord | None, row: LedgerRecord) -> str | None:
    """Say what is wrong between a row and the one before it; None if nothing is."""
    seq, prev_hash = (before.seq, row_hash(before)) if before else (0, GENESIS)
    if row.seq != seq + 1:
        return f"seq {row.seq} follows {seq}"
    if row.prev_hash != prev_hash:
        return f"row {row.seq} does not name the hash of row {seq}"
    if row.parent_seq != (seq or None):
        return f"row {row.seq} names {row.parent_seq} as its parent"
    if before and row.committed_at <= before.committed_at:
        return f"row {row.seq} is not later than row {seq}"
    return None


_KINDS: Final = (
    EpisodeRecord,
    BodyRecord,
    FactRecord,
    TombstoneRecord,
    SchemaRecord,
    AclChangeRecord,
)
_FIELDS: Final = {kind: tuple(kind.__dataclass_fields__) for kind in _KINDS}
_VALUES: Final = {kind: attrgetter(*names) for kind, names in _FIELDS.items()}
"""What reads all fields of a record at once: every row that lands is hashed."""


def _record_hash(record: ScopeRecord) -> str:
    kind = type(record)
    values = _VALUES[kind](record)
    if isinstance(record, FactRecord):
        values = tuple(map(_canonical, values))
    return sha256_hex(canonical_json(dict(zip(_FIELDS[kind], values, strict=True))))


def _canonical(value: object) -> Canonical:
    """Write a fact's numbers and cites as JSON has them; all else is JSON already."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Evidence):
        return {"episode_id": value.episode_id, "unit": value.unit}
    if isinstance(value, tuple):
        return [_canonical(item) for item in value]
    message = f"no canonical form for {type(value).__name__}"
    raise TypeError(message)
