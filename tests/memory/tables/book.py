"""Lands rows straight through the warehouse, as the committer does, with a chain of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg

from ampup_site.kernel.canonical import sha256_hex
from ampup_site.kernel.clock import Micros, SystemClock
from ampup_site.kernel.ids import BATCH, COMMIT, UlidSource
from memory.domain.chain import GENESIS, payload_hash, row_hash
from memory.domain.records import BodyRecord, CommitKind, EpisodeRecord, LedgerRecord
from memory.tables import reading
from memory.tables.catalog import Move, TableKey, move_pointers
from memory.tables.encode import EncodedPart, ScopePart
from memory.tables.verify import part_rows
from memory.tables.warehouse import StagedLanding, Warehouse

NAMESPACE = "org_default"
NOON = 1_774_966_930_123_456
_IDS = UlidSource(SystemClock())


def commit_id() -> str:
    """Mint a commit's id."""
    return _IDS.mint(COMMIT)


def episode(commit: str, body: str, **fields: object) -> EpisodeRecord:
    """Return a valid row."""
    values: dict[str, object] = {
        "episode_id": sha256_hex(body.encode()),
        "commit_id": commit,
        "branch_id": 0,
        "source": "note:acme",
        "episode_type": "note",
        "document": None,
        "version_of": None,
        "occurred_at": NOON,
        "recorded_at": NOON,
        "body_sha256": sha256_hex(body.encode()),
        "body_len": len(body.encode()),
        "author": "user:priya",
        "acl": ("user:priya", "group:sales"),
        "about": ("Acme",),
        "tags": (),
        "meta": '{"room":"é"}',
        "origin_commit_id": None,
    }
    return EpisodeRecord(**{**values, **fields})  # type: ignore[arg-type]


def body_row(commit: str, body: str) -> BodyRecord:
    """Return a body as a row."""
    content = body.encode()
    return BodyRecord(sha256_hex(content), commit, len(content), body, None, None, NOON)


def notes(bodies: Sequence[str], *, namespace: str = NAMESPACE) -> ScopePart:
    """Return one commit of notes."""
    commit = commit_id()
    return ScopePart(
        namespace=namespace,
        episodes=tuple(episode(commit, body) for body in bodies),
        bodies=tuple(body_row(commit, body) for body in bodies),
    )


def first_commit(part: ScopePart) -> str:
    """Return the commit of a part's first row."""
    return part.tables()[0][1][0].commit_id


@dataclass
class Book:
    """A warehouse and the end of its ledger."""

    warehouse: Warehouse
    dsn: str
    last: LedgerRecord | None = None

    def ledger_rows(
        self, parts: Sequence[ScopePart], *, batch_id: str = "b_test"
    ) -> list[LedgerRecord]:
        """Return the ledger rows of parts, a commit each, after the last."""
        rows: list[LedgerRecord] = []
        before = self.last
        for part in parts:
            before = LedgerRecord(
                seq=before.seq + 1 if before else 1,
                commit_id=first_commit(part),
                parent_seq=before.seq if before else None,
                prev_hash=row_hash(before) if before else GENESIS,
                scope=part.namespace,
                branch_id=0,
                branch="main",
                kind=CommitKind.WRITE,
                from_branch_id=None,
                from_seq=None,
                committed_at=before.committed_at + 1 if before else NOON,
                author="user:priya",
                batch_id=batch_id,
                job_id=None,
                message=None,
                episode_count=len(part.episodes),
                fact_count=len(part.facts),
                payload_hash=payload_hash(part_rows(part)),
                schema_version=None,
                episodes_snapshot=None,
                facts_snapshot=None,
                meta=None,
            )
            rows.append(before)
        return rows

    def land(self, *parts: ScopePart) -> StagedLanding:
        """Land parts, a commit each, in one landing; parts of one scope are written as one."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            return self.land_on(connection, *parts)

    def land_on(self, connection: psycopg.Connection, *parts: ScopePart) -> StagedLanding:
        """Land over a connection that stays open."""
        encoded = [self.warehouse.encode(part) for part in merged(parts)]
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (self.warehouse.lock_key,))
            batch_id = _IDS.mint(BATCH)
            rows = self.ledger_rows(parts, batch_id=batch_id)
            staged = self.warehouse.stage(connection, encoded, rows, batch_id=batch_id)
            self.warehouse.swap(connection, staged)
        self.warehouse.adopt(staged)
        self.last = rows[-1]
        return staged

    def stage_and_die(self, *parts: ScopePart) -> list[EncodedPart]:
        """Do all of a landing but its COMMIT; return the data files it leaves."""
        encoded = [self.warehouse.encode(part) for part in merged(parts)]
        batch_id = _IDS.mint(BATCH)
        rows = self.ledger_rows(parts, batch_id=batch_id)
        with (
            psycopg.connect(self.dsn, autocommit=True) as connection,
            connection.transaction(force_rollback=True),
        ):
            staged = self.warehouse.stage(connection, encoded, rows, batch_id=batch_id)
            self.warehouse.swap(connection, staged)
        return encoded

    def reopened_blind(self) -> Warehouse:
        """Return the warehouse as another process would open it, without a look at the ledger."""
        return Warehouse(root=self.warehouse.root, dsn=self.dsn)

    def reopened(self) -> "Book":
        """Return the book as another process would open it."""
        warehouse = Warehouse(root=self.warehouse.root, dsn=self.dsn)
        seq = warehouse.ledger_seq()
        last = list(reading.ledger_rows(warehouse, from_seq=seq)) if seq else [None]
        return Book(warehouse, self.dsn, last[-1])


def merged(parts: Sequence[ScopePart]) -> list[ScopePart]:
    """Return one part a scope."""
    scopes: dict[str, ScopePart] = {}
    for part in parts:
        held = scopes.get(part.namespace, ScopePart(part.namespace))
        scopes[part.namespace] = replace(
            held,
            episodes=held.episodes + part.episodes,
            bodies=held.bodies + part.bodies,
            facts=held.facts + part.facts,
            tombstones=held.tombstones + part.tombstones,
            schemas=held.schemas + part.schemas,
            acl_changes=held.acl_changes + part.acl_changes,
        )
    return list(scopes.values())


class StillClock:
    """A clock that a test moves."""

    def __init__(self, at: int) -> None:
        self.at = at

    def now(self) -> Micros:
        """Return the moment it was set to."""
        return Micros(self.at)


def paths_below(folder: Path) -> set[Path]:
    """Return all files below a folder."""
    return {path for path in folder.rglob("*") if path.is_file()}


def put_pointers(connection: psycopg.Connection, pointers: Mapping[TableKey, str]) -> None:
    """Put a catalog back as it was, as the restore of a backup does."""
    connection.execute("DELETE FROM public.iceberg_tables")
    for key, at in pointers.items():
        move_pointers(connection, [Move(key, None, at)])
