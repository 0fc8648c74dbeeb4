"""One landing: a batch of writes becomes visible in one Postgres transaction, or not at all.

The order is the protocol of the architecture's section 4: files are encoded before any lock;
under the warehouse's transaction lock the head is read, repeats are recognised again, metadata
is staged and fsynced, pointers are swapped with the ledger last, derived rows are copied; the
COMMIT is the moment of visibility.
"""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Final

import psycopg

from ampup_site.kernel.clock import Clock, Micros
from ampup_site.kernel.failpoints import reach
from ampup_site.kernel.ids import BATCH, IdSource
from memory.domain.acl import Acl
from memory.domain.chain import row_hash
from memory.domain.change import Outcome, Write
from memory.domain.ids import EpisodeId
from memory.domain.landing import (
    Amendment,
    Key,
    Plan,
    Removal,
    keys_of,
    plan_landing,
)
from memory.domain.lineage import Seq
from memory.domain.records import LedgerRecord
from memory.landing.encoding import EncodedBatch, MapParts, body_hashes, encode_batch
from memory.search.acl_numbers import AclNumbers
from memory.search.heads import Head, advance, live_head, number_scopes, scope_ids
from memory.search.rows import CommitRows, write_commits
from memory.search.states import Standing, known_bodies, load_standings
from memory.tables.warehouse import StagedLanding, Warehouse

logger = logging.getLogger(__name__)

LOCK_TIMEOUT_MS: Final = 20_000
STATEMENT_TIMEOUT_MS: Final = 60_000
IDLE_TIMEOUT_MS: Final = 30_000
"""Below the writers' deadline for the lock; a holder that stands still is cut off after the
idle timeout, so it blocks others only that long."""

NOTIFY_CHANNEL: Final = "ampup_landed"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A batch encoded on the state read at `head`; good as long as the plan stays the same."""

    head: Head
    writes: tuple[Write, ...]
    encoded: EncodedBatch
    standings: Mapping[Key, Standing]
    bodies: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class LandingReport:
    """What a landing did, and how long it held the lock."""

    outcomes: tuple[Outcome, ...]
    lock_secs: float
    passages: int


@dataclass(frozen=True, slots=True)
class _Landed:
    outcomes: tuple[Outcome, ...]
    staged: StagedLanding | None
    passages: int


class Landing:
    """Lands batches on one connection; used by one thread."""

    def __init__(
        self,
        *,
        warehouse: Warehouse,
        clock: Clock,
        ids: IdSource,
        map_parts: MapParts,
    ) -> None:
        self._warehouse = warehouse
        self._clock = clock
        self._ids = ids
        self._map_parts = map_parts
        self._acl = AclNumbers(0)
        self.tried: Sequence[Outcome] = ()
        """The outcomes of the last plan that was written: what holds if it landed unheard."""

    def forget(self) -> None:
        """Take nothing for known of the database: it may be another's standby, or an older one."""
        self._acl = AclNumbers(0)

    def prepare(self, connection: psycopg.Connection, writes: Sequence[Write]) -> Prepared:
        """Plan and encode a batch on the state as it is now, without any lock."""
        with connection.cursor(binary=True) as cursor:
            head = live_head(cursor)
            plan, standings = _plan(cursor, head, writes)
            bodies = _present_bodies(cursor, head, plan)
        encoded = encode_batch(
            self._warehouse, plan, present_bodies=bodies, map_parts=self._map_parts
        )
        reach("landing.encoded")
        return Prepared(head, tuple(writes), encoded, standings, bodies)

    def land(self, connection: psycopg.Connection, prepared: Prepared) -> LandingReport:
        """Land a prepared batch.

        Raises:
            psycopg.Error: nothing was written, but for an error at COMMIT itself: then look for
                the commit ids under the lock.
            LedgerConflict: the catalog's pointers moved outside the lock's protocol.
        """
        if not prepared.encoded.plan.commits:
            return LandingReport(prepared.encoded.plan.outcomes, 0.0, 0)
        self.tried = prepared.encoded.plan.outcomes
        try:
            with connection.transaction():
                self._lock(connection)
                started = perf_counter()
                landed = self._write(connection, prepared)
                reach("landing.before_commit")
            held = perf_counter() - started
        except BaseException:
            self._acl.reset()
            raise
        reach("landing.committed")
        self._keep(landed)
        return LandingReport(landed.outcomes, held, landed.passages)

    def _keep(self, landed: _Landed) -> None:
        """Remember what the landing made; it has landed, so nothing here may undo it."""
        try:
            self._acl.settle()
            if landed.staged is not None:
                self._warehouse.adopt(landed.staged)
        except Exception:
            logger.exception("a landing's state is not remembered; it will be read again")

    def _lock(self, connection: psycopg.Connection) -> None:
        connection.execute(
            f"SET LOCAL lock_timeout = {LOCK_TIMEOUT_MS};"
            f"SET LOCAL statement_timeout = {STATEMENT_TIMEOUT_MS};"
            f"SET LOCAL idle_in_transaction_session_timeout = {IDLE_TIMEOUT_MS};"
            f"SELECT pg_advisory_xact_lock({self._warehouse.lock_key})"
        )
        reach("landing.locked")

    def _write(self, connection: psycopg.Connection, prepared: Prepared) -> _Landed:
        with connection.cursor(binary=True) as cursor:
            head = live_head(cursor)
            if not self._acl.belong_to(generation=head.generation, made=head.made):
                self._acl = AclNumbers(head.generation, made=head.made)
            encoded, standings = prepared.encoded, prepared.standings
            if (head.generation, head.seq) != (prepared.head.generation, prepared.head.seq):
                plan, standings = _plan(cursor, head, prepared.writes)
                self.tried = plan.outcomes
                if not plan.commits:
                    self._warehouse.discard(encoded.parts)
                    return _Landed(plan.outcomes, None, 0)
                encoded = self._again_if_changed(cursor, head, plan, prepared)
            try:
                return self._write_encoded(connection, cursor, head, encoded, standings)
            except BaseException:
                # It is rolled back, and nobody else knows of files that were encoded again.
                self._warehouse.discard(encoded.parts)
                raise

    def _write_encoded(
        self,
        connection: psycopg.Connection,
        cursor: psycopg.Cursor,
        head: Head,
        encoded: EncodedBatch,
        standings: Mapping[Key, Standing],
    ) -> _Landed:
        plan = encoded.plan
        batch_id = self._ids.mint(BATCH)
        commits = commit_rows(head, plan, encoded, batch_id=batch_id, now=self._clock.now())
        rows = [commit.ledger for commit in commits]
        staged = self._warehouse.stage(connection, encoded.parts, rows, batch_id=batch_id)
        reach("landing.staged")
        self._warehouse.swap(connection, staged)
        reach("landing.swapped")
        self._copy(cursor, head, commits, standings)
        reach("landing.copied")
        cursor.execute(f"NOTIFY {NOTIFY_CHANNEL}")
        passages = sum(len(rows) for commit in commits for _, rows in commit.added)
        return _Landed(plan.outcomes, staged, passages)

    def _again_if_changed(
        self, cursor: psycopg.Cursor, head: Head, plan: Plan, prepared: Prepared
    ) -> EncodedBatch:
        """Encode again if what landed meanwhile changes what this batch adds."""
        bodies = _present_bodies(cursor, head, plan)
        if plan.effects == prepared.encoded.plan.effects and bodies == prepared.bodies:
            return replace(prepared.encoded, plan=plan)
        self._warehouse.discard(prepared.encoded.parts)
        return encode_batch(self._warehouse, plan, present_bodies=bodies, map_parts=self._map_parts)

    def _copy(
        self,
        cursor: psycopg.Cursor,
        head: Head,
        commits: Sequence[CommitRows],
        standings: Mapping[Key, Standing],
    ) -> None:
        acls: set[Acl] = {Acl(record.acl) for commit in commits for record, _ in commit.added}
        acls |= {acl for commit in commits for _, acl in commit.amended}
        self._acl.learn(cursor, acls, next_number=head.next_acl_set)
        scopes = number_scopes(cursor, {commit.ledger.scope for commit in commits})
        write_commits(cursor, commits, acl=self._acl, scopes=scopes, standings=standings)
        last = commits[-1]
        advance(
            cursor,
            head,
            seq=Seq(last.ledger.seq),
            chain_hash=last.chain_hash,
            committed_at=Micros(last.ledger.committed_at),
            next_acl_set=self._acl.next_number,
        )


def commit_rows(
    head: Head, plan: Plan, encoded: EncodedBatch, *, batch_id: str, now: Micros
) -> list[CommitRows]:
    """Give each commit of a plan its seq, time and place in the chain after `head`."""
    removed: dict[str, list[EpisodeId]] = defaultdict(list)
    amended: dict[str, list[tuple[EpisodeId, Acl]]] = defaultdict(list)
    for effect in plan.effects:
        if isinstance(effect, Removal):
            removed[effect.write.commit_id].append(effect.removal.episode_id)
        elif isinstance(effect, Amendment):
            change = effect.amendment
            amended[effect.write.commit_id].append((change.episode_id, change.acl))
    rows = []
    seq, chain_hash, committed_at = head.seq, head.chain_hash, head.committed_at
    for write in plan.commits:
        added = encoded.added.get(write.commit_id, ())
        committed_at = Micros(max(now, committed_at + 1))
        ledger = LedgerRecord(
            seq=seq + 1,
            commit_id=write.commit_id,
            parent_seq=seq or None,
            prev_hash=chain_hash,
            scope=write.namespace,
            branch_id=write.branch_id,
            branch="main",
            kind=write.kind,
            from_branch_id=None,
            from_seq=None,
            committed_at=committed_at,
            author=write.author,
            batch_id=batch_id,
            job_id=write.job_id,
            message=write.message,
            episode_count=len(added),
            fact_count=0,
            payload_hash=encoded.payloads[write.commit_id],
            schema_version=None,
            episodes_snapshot=None,
            facts_snapshot=None,
            meta=None,
        )
        seq, chain_hash = Seq(seq + 1), row_hash(ledger)
        rows.append(
            CommitRows(
                ledger=ledger,
                chain_hash=chain_hash,
                added=[(record, episode.passages) for record, episode in added],
                removed=removed[write.commit_id],
                amended=amended[write.commit_id],
            )
        )
    return rows


def _plan(
    cursor: psycopg.Cursor, head: Head, writes: Sequence[Write]
) -> tuple[Plan, dict[Key, Standing]]:
    keys = keys_of(writes)
    scopes = scope_ids(cursor, {namespace for namespace, _ in keys})
    standings = load_standings(cursor, generation=head.generation, keys=keys, scopes=scopes)
    return plan_landing(writes, {key: held.state for key, held in standings.items()}), standings


def _present_bodies(cursor: psycopg.Cursor, head: Head, plan: Plan) -> dict[str, frozenset[str]]:
    wanted = body_hashes(plan)
    scopes = scope_ids(cursor, wanted) if wanted else {}
    return {
        namespace: known_bodies(
            cursor,
            generation=head.generation,
            scope_id=scopes[namespace],
            sha256s=wanted[namespace],
        )
        for namespace in scopes
    }
