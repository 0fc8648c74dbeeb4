"""The chain's arithmetic."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.chain import GENESIS, chain_fault, payload_hash, row_hash
from memory.domain.records import BodyRecord, LedgerRecord, ScopeRecord

FIRST = LedgerRecord(
    seq=1,
    commit_id="c_00000000000000000000000001",
    parent_seq=None,
    prev_hash=GENESIS,
    scope="org_default",
    branch_id=0,
    branch="main",
    kind="write",
    from_branch_id=None,
    from_seq=None,
    committed_at=1_774_966_930_123_456,
    author="user:priya",
    batch_id="b_1",
    job_id=None,
    message="said aloud",
    episode_count=1,
    fact_count=0,
    payload_hash="4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
    schema_version=None,
    episodes_snapshot=7,
    facts_snapshot=None,
    meta=None,
)
SECOND = replace(
    FIRST,
    seq=2,
    commit_id="c_00000000000000000000000002",
    parent_seq=1,
    prev_hash="3353be2a872fad8339224c7e945c280d47cb2abc6d7bb53a55f1cd86d3569b18",
    kind="tombstone",
    committed_at=1_774_966_930_123_457,
    episode_count=0,
)


def test_two_rows_have_the_hashes_of_the_published_vector() -> None:
    """Documented: specification, section 8, the chain's vector."""
    assert row_hash(FIRST) == SECOND.prev_hash
    assert row_hash(SECOND) == "7558121e0460246a715a5329cdd07158f113f7bbfbb65ec0530bf618f91e0d8a"
    assert payload_hash([]) == FIRST.payload_hash
    assert chain_fault(None, FIRST) is None
    assert chain_fault(FIRST, SECOND) is None


def test_free_text_and_physical_ids_stand_outside_the_hash() -> None:
    """Documented: an erase of the message or a compaction breaks no link."""
    changed = replace(FIRST, message=None, episodes_snapshot=9, batch_id="b_2", meta="{}")
    assert row_hash(changed) == row_hash(FIRST)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"seq": 3}, "seq"),
        ({"prev_hash": GENESIS}, "hash"),
        ({"parent_seq": None}, "parent"),
        ({"committed_at": FIRST.committed_at}, "later"),
    ],
)
def test_a_row_that_does_not_follow_is_named(changed: dict[str, object], named: str) -> None:
    """Documented: no gap, no fork, times that rise."""
    fault = chain_fault(FIRST, replace(SECOND, **changed))  # type: ignore[arg-type]
    assert fault is not None
    assert named in fault


@given(st.permutations(range(6)))
def test_a_payload_hash_does_not_depend_on_the_order_of_rows(order: list[int]) -> None:
    """Documented: the list is sorted before it is hashed."""
    rows: list[tuple[str, str, ScopeRecord]] = [
        ("bodies", str(n), BodyRecord(str(n), "c_1", n, f"body {n}", None, None, n))
        for n in range(6)
    ]
    assert payload_hash(rows[place] for place in order) == payload_hash(rows)
