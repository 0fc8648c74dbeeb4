"""The Iceberg layout of every table: fields with their ids, and the tables' properties.

Layouts only grow, at the end, with the next free id. The ids are the ones a SQL catalog would
give on creation: list elements and struct fields after all top-level fields.

Source: storage design, section 8.
"""

from collections.abc import Mapping
from typing import Final

from pyiceberg.schema import Schema
from pyiceberg.types import (
    BooleanType,
    DoubleType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestamptzType,
)

LEDGER_NAMESPACE: Final = "memory_system"
LEDGER: Final = "ledger"

_TEXT, _LONG, _INT = StringType(), LongType(), IntegerType()
_TIME, _DOUBLE, _BOOL = TimestamptzType(), DoubleType(), BooleanType()


def _texts(element_id: int) -> ListType:
    return ListType(element_id, _TEXT, element_required=True)


def _schema(*columns: tuple[str, IcebergType, bool]) -> Schema:
    return Schema(
        *(
            NestedField(number, name, kind, required=required)
            for number, (name, kind, required) in enumerate(columns, start=1)
        ),
        schema_id=0,
    )


EPISODES: Final = _schema(
    ("episode_id", _TEXT, True),
    ("commit_id", _TEXT, True),
    ("branch_id", _LONG, True),
    ("source", _TEXT, True),
    ("episode_type", _TEXT, True),
    ("document", _TEXT, False),
    ("version_of", _TEXT, False),
    ("occurred_at", _TIME, True),
    ("recorded_at", _TIME, True),
    ("body_sha256", _TEXT, True),
    ("body_len", _LONG, True),
    ("author", _TEXT, False),
    ("acl", _texts(18), True),
    ("about", _texts(19), False),
    ("tags", _texts(20), False),
    ("meta", _TEXT, False),
    ("origin_commit_id", _TEXT, False),
)
BODIES: Final = _schema(
    ("sha256", _TEXT, True),
    ("commit_id", _TEXT, True),
    ("body_len", _LONG, True),
    ("body", _TEXT, False),
    ("blob", _TEXT, False),
    ("codec", _TEXT, False),
    ("recorded_at", _TIME, True),
)
FACTS: Final = _schema(
    ("fact_id", _TEXT, True),
    ("commit_id", _TEXT, True),
    ("branch_id", _LONG, True),
    ("entity", _TEXT, True),
    ("entity_type", _TEXT, False),
    ("predicate", _TEXT, True),
    ("value", _TEXT, False),
    ("value_type", _TEXT, False),
    ("value_key", _TEXT, False),
    ("value_num", _DOUBLE, False),
    ("value_ts", _TIME, False),
    ("valid_from", _TIME, False),
    ("valid_to", _TIME, False),
    ("closes", _BOOL, True),
    ("closes_fact_id", _TEXT, False),
    ("quote", _TEXT, False),
    ("quote_unit", _INT, False),
    (
        "evidence",
        ListType(
            25,
            StructType(
                NestedField(26, "episode_id", _TEXT, required=True),
                NestedField(27, "unit", _INT, required=False),
            ),
            element_required=True,
        ),
        True,
    ),
    ("written_by", _TEXT, True),
    ("confidence", _DOUBLE, False),
    ("recorded_at", _TIME, True),
    ("schema_version", _INT, False),
    ("meta", _TEXT, False),
    ("origin_commit_id", _TEXT, False),
)
TOMBSTONES: Final = _schema(
    ("episode_id", _TEXT, True),
    ("commit_id", _TEXT, True),
    ("branch_id", _LONG, True),
    ("mode", _TEXT, True),
    ("reason_episode_id", _TEXT, False),
    ("author", _TEXT, False),
    ("recorded_at", _TIME, True),
    ("meta", _TEXT, False),
    ("origin_commit_id", _TEXT, False),
)
SCHEMAS: Final = _schema(
    ("commit_id", _TEXT, True),
    ("branch_id", _LONG, True),
    ("name", _TEXT, True),
    ("version", _INT, True),
    ("body", _TEXT, True),
    ("body_sha256", _TEXT, True),
    ("author", _TEXT, False),
    ("recorded_at", _TIME, True),
    ("origin_commit_id", _TEXT, False),
)
ACL_CHANGES: Final = _schema(
    ("episode_id", _TEXT, True),
    ("commit_id", _TEXT, True),
    ("acl", _texts(8), True),
    ("expected_acl", _texts(9), True),
    ("author", _TEXT, True),
    ("reason", _TEXT, False),
    ("recorded_at", _TIME, True),
)
LEDGER_LAYOUT: Final = _schema(
    ("seq", _LONG, True),
    ("commit_id", _TEXT, True),
    ("parent_seq", _LONG, False),
    ("prev_hash", _TEXT, True),
    ("scope", _TEXT, True),
    ("branch_id", _LONG, True),
    ("branch", _TEXT, True),
    ("kind", _TEXT, True),
    ("from_branch_id", _LONG, False),
    ("from_seq", _LONG, False),
    ("committed_at", _TIME, True),
    ("author", _TEXT, True),
    ("batch_id", _TEXT, True),
    ("job_id", _TEXT, False),
    ("message", _TEXT, False),
    ("episode_count", _INT, True),
    ("fact_count", _INT, True),
    ("payload_hash", _TEXT, True),
    ("schema_version", _INT, False),
    ("episodes_snapshot", _LONG, False),
    ("facts_snapshot", _LONG, False),
    ("meta", _TEXT, False),
)

SCOPE_TABLES: Final[Mapping[str, Schema]] = {
    "episodes": EPISODES,
    "bodies": BODIES,
    "facts": FACTS,
    "tombstones": TOMBSTONES,
    "schemas": SCHEMAS,
    "acl_changes": ACL_CHANGES,
}
"""A scope's tables; each is made by the first write that needs it."""

LAYOUTS: Final[Mapping[str, Schema]] = {**SCOPE_TABLES, LEDGER: LEDGER_LAYOUT}

PROPERTIES: Final[Mapping[str, str]] = {
    "commit.retry.num-retries": "0",
    "commit.manifest-merge.enabled": "true",
    "commit.manifest.min-count-to-merge": "50",
    "write.metadata.delete-after-commit.enabled": "false",
    "write.metadata.previous-versions-max": "20",
    "write.delete.isolation-level": "snapshot",
    "write.update.isolation-level": "snapshot",
    "write.metadata.metrics.default": "none",
    "write.metadata.metrics.column.commit_id": "full",
    "write.metadata.metrics.column.occurred_at": "full",
    "write.metadata.metrics.column.episode_id": "truncate(16)",
    "write.metadata.metrics.column.entity": "truncate(16)",
    "write.metadata.metrics.column.predicate": "truncate(16)",
    "write.parquet.row-group-limit": "20000",
    "write.target-file-size-bytes": "134217728",
}
"""No retries: a stale stock append must fail, or the ledger would be no compare-and-set."""

BOUNDED: Final = ("commit_id", "occurred_at", "seq")
"""Columns whose bounds our own writer puts into manifests: what readers prune by. Bounds of
text columns would keep people's words in manifests, so none is written."""
