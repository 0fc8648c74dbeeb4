"""A row of each of a scope's tables, with the values that are easily lost."""

from memory.domain.records import (
    AclChangeRecord,
    Evidence,
    FactRecord,
    SchemaRecord,
    TombstoneRecord,
)
from memory.tables.encode import ScopePart
from tests.memory.tables.book import NAMESPACE, NOON, body_row, episode

BEFORE_1970 = -62_135_596_800_000_000
"""The first microsecond of the year 1."""


def one_of_each(commit: str, *, namespace: str = NAMESPACE) -> ScopePart:
    """Return a part with rows in every table."""
    body = f"Приветствие, 你好 and a \u0000 in {commit}"
    return ScopePart(
        namespace=namespace,
        episodes=(
            episode(commit, body, occurred_at=BEFORE_1970),
            episode(commit, "bare", author=None, about=(), acl=("*",), meta=None),
        ),
        bodies=(body_row(commit, body),),
        facts=(fact(commit), fact(commit, value=None, value_num=None, evidence=())),
        tombstones=(TombstoneRecord("e1", commit, 0, "drop_facts", None, None, NOON, None, None),),
        schemas=(SchemaRecord(commit, 0, "deal", 1, "{}", "00", "user:priya", NOON, None),),
        acl_changes=(
            AclChangeRecord("e1", commit, ("user:priya",), ("*",), "user:priya", None, NOON),
        ),
    )


def fact(commit: str, **fields: object) -> FactRecord:
    """Return a valid fact."""
    values: dict[str, object] = {
        "fact_id": f"f_{commit}_{len(fields)}",
        "commit_id": commit,
        "branch_id": 0,
        "entity": "Acme",
        "entity_type": "company",
        "predicate": "renewal_owner",
        "value": '"Priya"',
        "value_type": "text",
        "value_key": "priya",
        "value_num": 0.1,
        "value_ts": BEFORE_1970,
        "valid_from": NOON,
        "valid_to": None,
        "closes": False,
        "closes_fact_id": None,
        "quote": "I own the renewal",
        "quote_unit": 0,
        "evidence": (Evidence("e1", 3), Evidence("e2", None)),
        "written_by": "extractor",
        "confidence": None,
        "recorded_at": NOON,
        "schema_version": 1,
        "meta": None,
        "origin_commit_id": None,
    }
    return FactRecord(**{**values, **fields})  # type: ignore[arg-type]
