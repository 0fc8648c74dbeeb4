"""Proves the ledger from the files alone: the chain, and that each commit's rows are as hashed."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from memory.domain.chain import GENESIS, chain_fault, payload_hash, row_hash
from memory.domain.records import LedgerRecord, ScopeRecord
from memory.tables import reading
from memory.tables.encode import ScopePart
from memory.tables.warehouse import Warehouse

_WINDOW: Final = 20_000
"""Rows held in memory at a time."""

_NAMED: Final = 20


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where the chain ends: kept elsewhere, it proves later that nothing before it changed."""

    seq: int
    chain_hash: str
    committed_at: int | None


@dataclass(frozen=True, slots=True)
class LedgerReport:
    """What a proof of the ledger found; `faults` is empty if it holds."""

    commits: int
    rows: int
    head: Anchor
    faults: tuple[str, ...]


def verify_ledger(
    warehouse: Warehouse, *, progress: Callable[[int, int], None] = lambda _done, _total: None
) -> LedgerReport:
    """Read every row of the ledger and of the tables it speaks of, from their files.

    Args:
        progress: told the seq reached and the newest.
    """
    total = warehouse.ledger_seq()
    ledger = reading.ledger_rows(warehouse, to_seq=total)
    faults: list[str] = []
    before: LedgerRecord | None = None
    rows = 0
    while window := _window(ledger):
        for row in window:
            fault = chain_fault(before, row)
            if fault is not None and len(faults) < _NAMED:
                faults.append(fault)
            before = row
        found = payload_faults(warehouse, window)
        rows += found.rows
        faults.extend(found.faults[: _NAMED - len(faults)])
        if progress is not None:
            progress(window[-1].seq, total)
    seen = before.seq if before else 0
    if seen != total:
        faults.append(f"the ledger says it reaches {total} and ends at {seen}")
    return LedgerReport(seen, rows, _anchor(before), tuple(faults))


def _window(ledger: Iterator[LedgerRecord]) -> list[LedgerRecord]:
    """Take commits until they hold enough rows to be read at a time; at least one."""
    window: list[LedgerRecord] = []
    rows = 0
    for row in ledger:
        window.append(row)
        rows += 1 + row.episode_count + row.fact_count
        if rows >= _WINDOW:
            break
    return window


def ledger_head(warehouse: Warehouse) -> Anchor:
    """Return the anchor of the newest commit, from the ledger's files."""
    seq = warehouse.ledger_seq()
    last = None
    for row in reading.ledger_rows(warehouse, from_seq=max(seq, 1), to_seq=max(seq, 1)):
        last = row
    return _anchor(last)


def _anchor(row: LedgerRecord | None) -> Anchor:
    if row is None:
        return Anchor(0, GENESIS, None)
    return Anchor(row.seq, row_hash(row), row.committed_at)


@dataclass(frozen=True, slots=True)
class Payloads:
    """How many rows some commits have, and which commits' are not as hashed."""

    rows: int
    faults: list[str]


def payload_faults(
    warehouse: Warehouse, window: list[LedgerRecord], *, pointers: reading.Pointers | None = None
) -> Payloads:
    """Compare the rows of some commits with the hashes in the ledger.

    Args:
        pointers: which versions of the tables to read; None for the catalog's.
    """
    by_scope: dict[str, list[LedgerRecord]] = defaultdict(list)
    for row in window:
        by_scope[row.scope].append(row)
    faults, rows = [], 0
    for namespace, ledger in by_scope.items():
        commit_ids = [row.commit_id for row in ledger]
        part = reading.read_part(warehouse, namespace, commit_ids, pointers=pointers)
        payloads: dict[str, list[tuple[str, str, ScopeRecord]]] = defaultdict(list)
        for table, row_id, record in part_rows(part):
            payloads[record.commit_id].append((table, row_id, record))
            rows += 1
        faults += [
            f"the rows of commit {row.seq} ({row.commit_id}) are not the ones it was made of"
            for row in ledger
            if payload_hash(payloads[row.commit_id]) != row.payload_hash
        ]
    return Payloads(rows, faults)


def part_rows(part: ScopePart) -> Iterator[tuple[str, str, ScopeRecord]]:
    """Yield (table, row id, record) of a part, as payload hashes name them."""
    for episode in part.episodes:
        yield "episodes", episode.episode_id, episode
    for body in part.bodies:
        yield "bodies", body.sha256, body
    for fact in part.facts:
        yield "facts", fact.fact_id, fact
    for tombstone in part.tombstones:
        yield "tombstones", tombstone.episode_id, tombstone
    for schema in part.schemas:
        yield "schemas", f"{schema.name}@{schema.version}", schema
    for change in part.acl_changes:
        yield "acl_changes", change.episode_id, change
