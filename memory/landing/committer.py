"""The committer: one thread a process that gathers waiting writes and lands them together.

It owns its connection, keeps nobody's thread and answers futures. What fails for a reason of
the rows themselves is split in halves until the bad write stands alone; what fails for a reason
of the machinery is tried again until the callers' deadline.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Final

import psycopg

from ampup_site.kernel.clock import Clock
from ampup_site.kernel.ids import IdSource
from memory.domain.change import Outcome, Refused, Write
from memory.domain.errors import CommitUnknown, LedgerConflict, StorageUnavailable
from memory.domain.ids import CommitId
from memory.domain.pending import DEADLINE_SECS
from memory.landing.failures import Fault, fault_of, refusal
from memory.landing.transaction import LOCK_TIMEOUT_MS, Landing, Prepared
from memory.landing.write_queue import Waiting, WriteQueue
from memory.search.database import IndexDatabase
from memory.search.heads import live_head
from memory.search.states import landed_commits
from memory.tables.encode import EncodedPart, ScopePart
from memory.tables.warehouse import Warehouse

logger = logging.getLogger(__name__)

BATCH_ROWS: Final = 1_000
BATCH_BYTES: Final = 8 * 2**20
LOCK_BUDGET_SECS: Final = 0.1
LINGER_SECS: Final = 0.003
"""Limits of one landing.  Source: architecture, "The write path"."""

_RETRY_SECS: Final = 0.2
_ENCODERS: Final = 4
_REMEMBERED: Final = 4_096


@dataclass(frozen=True, slots=True)
class LandingFigures:
    """What the last landings cost: how long each held the lock, and how many writes it had."""

    lock_secs: tuple[float, ...]
    writes: tuple[int, ...]


class Committer:
    """Takes writes from any thread; lands them from its own."""

    def __init__(
        self, *, warehouse: Warehouse, index: IndexDatabase, clock: Clock, ids: IdSource
    ) -> None:
        self._index = index
        self._warehouse = warehouse
        self._encoders = ThreadPoolExecutor(_ENCODERS, thread_name_prefix="encode")
        self._landing = Landing(
            warehouse=warehouse, clock=clock, ids=ids, map_parts=self._map_parts
        )
        self._queue = WriteQueue()
        self._connection: psycopg.Connection | None = None
        self._secs_a_row = 0.0002
        self._figures: deque[tuple[float, int]] = deque(maxlen=_REMEMBERED)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None

    def submit(self, write: Write) -> "Future[Outcome]":
        """Queue a write; the future tells what became of it."""
        self._start()
        waiting = Waiting(write, deadline=monotonic() + DEADLINE_SECS)
        self._queue.put(waiting)
        return waiting.future

    def healthy(self) -> bool:
        """Say whether writes can land: the thread runs, or has not been needed yet."""
        return self._failure is None and (self._thread is None or self._thread.is_alive())

    def figures(self) -> LandingFigures:
        """Return what the newest landings cost, oldest first."""
        figures = list(self._figures)
        return LandingFigures(
            lock_secs=tuple(secs for secs, _ in figures),
            writes=tuple(count for _, count in figures),
        )

    def close(self) -> None:
        """Land what waits for at most the deadline, then stop."""
        thread = self._thread
        end = monotonic() + DEADLINE_SECS
        while thread is not None and thread.is_alive() and len(self._queue) and monotonic() < end:
            thread.join(0.01)
        for waiting in self._queue.close():
            waiting.answer(Refused(StorageUnavailable("The server is stopping; send it again.")))
        if thread is not None:
            thread.join(DEADLINE_SECS)
        self._encoders.shutdown()
        if self._connection is not None:
            self._connection.close()

    def _start(self) -> None:
        if self._thread is not None:
            return
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="committer", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        try:
            while self._queue.wait():
                self._queue.linger(LINGER_SECS, rows=BATCH_ROWS)
                rows = min(BATCH_ROWS, max(1, int(LOCK_BUDGET_SECS / self._secs_a_row)))
                self._land(self._queue.take(rows=rows, size=BATCH_BYTES))
        except BaseException as failure:
            self._failure = failure
            logger.exception("the committer died; this process takes no more writes")
            for waiting in self._queue.close():
                waiting.answer(Refused(StorageUnavailable("This process takes no writes.")))
            raise

    def _land(self, batch: Sequence[Waiting]) -> None:
        """Land a batch, or its halves; every caller is answered that has not given up by now."""
        batch = [waiting for waiting in batch if waiting.deadline > monotonic()]
        while batch:
            try:
                outcomes = self._attempt([waiting.write for waiting in batch])
            except Exception as error:  # noqa: BLE001 -- the bad write must be found and refused
                batch = self._after_failure(batch, error)
            else:
                self._answer(batch, outcomes)
                return

    def _after_failure(self, batch: Sequence[Waiting], error: Exception) -> Sequence[Waiting]:
        """Answer a batch that failed, or return what of it is tried again."""
        fault = fault_of(error)
        if fault is Fault.PASSING:
            return self._later(batch, error)
        if fault is Fault.ROWS and len(batch) > 1:
            half = len(batch) // 2
            self._land(batch[:half])
            self._land(batch[half:])
        else:
            self._answer(batch, [refusal(error)] * len(batch))
        return ()

    def _attempt(self, writes: Sequence[Write]) -> Sequence[Outcome]:
        connection = self._connect()
        prepared = self._landing.prepare(connection, writes)
        try:
            report = self._landing.land(connection, prepared)
        except psycopg.Error as error:
            unanswered = error.sqlstate is None and fault_of(error) is Fault.PASSING
            if connection.broken or unanswered:
                return self._outcomes_after_loss(prepared)
            self._warehouse.discard(prepared.encoded.parts)
            raise
        except BaseException:
            self._warehouse.discard(prepared.encoded.parts)
            raise
        if report.lock_secs:
            self._learn(report.lock_secs, rows=max(report.passages, len(writes)))
            self._figures.append((report.lock_secs, len(writes)))
        return report.outcomes

    def _outcomes_after_loss(self, prepared: Prepared) -> Sequence[Outcome]:
        """Tell what became of a landing whose connection broke, perhaps at COMMIT itself.

        Raises:
            LedgerConflict: it did not land; the same writes may be tried again.
            CommitUnknown: the database cannot be asked.
        """
        landed = self._landed({write.commit_id for write in prepared.writes})
        if not landed:
            self._warehouse.discard(prepared.encoded.parts)
            message = "The connection broke before the commit."
            raise LedgerConflict(message)
        # Of the plan that was written, which is another where somebody landed after the first.
        answers = zip(prepared.writes, self._landing.tried, strict=True)
        return [
            outcome if write.commit_id in landed else self._alone(write)
            for write, outcome in answers
        ]

    def _alone(self, write: Write) -> Outcome:
        """Attempt a write whose companions have landed: its failure must not try them again."""
        try:
            return self._attempt([write])[0]
        except Exception as error:  # noqa: BLE001 -- its caller is told, whatever it is
            return refusal(error)

    def _landed(self, commit_ids: Collection[CommitId]) -> frozenset[str]:
        """Look commits up under the landing lock, which a backend that still commits holds.

        Asked until there is an answer: a landed write that is planned again as if it were new
        would undo what others did after it.
        """
        end = monotonic() + DEADLINE_SECS
        while True:
            try:
                connection = self._connect(afresh=True)
                with connection.transaction(), connection.cursor() as cursor:
                    cursor.execute(
                        f"SET LOCAL lock_timeout = {LOCK_TIMEOUT_MS};"
                        f"SELECT pg_advisory_xact_lock({self._warehouse.lock_key})"
                    )
                    generation = live_head(cursor).generation
                    return landed_commits(cursor, generation=generation, commit_ids=commit_ids)
            except psycopg.Error as error:
                logger.warning("what became of a landing cannot be looked up yet: %s", error)
                if monotonic() > end:
                    message = "No answer to the commit came; look before sending it again."
                    raise CommitUnknown(message) from error
                threading.Event().wait(_RETRY_SECS)

    def _later(self, batch: Sequence[Waiting], error: Exception) -> list[Waiting]:
        """Keep the writes whose callers still wait, after a pause."""
        logger.warning("a landing is tried again: %s", error)
        if isinstance(error, psycopg.Error):
            self._drop_connection()
        threading.Event().wait(_RETRY_SECS)
        return [waiting for waiting in batch if waiting.deadline > monotonic()]

    def _answer(self, batch: Sequence[Waiting], outcomes: Sequence[Outcome]) -> None:
        for waiting, outcome in zip(batch, outcomes, strict=True):
            waiting.answer(outcome)

    def _learn(self, secs: float, *, rows: int) -> None:
        """Keep a running mean of what a row costs under the lock; it bounds the next batches."""
        self._secs_a_row += 0.1 * (secs / max(rows, 20) - self._secs_a_row)

    def _map_parts(
        self, encode: Callable[[ScopePart], EncodedPart], parts: Sequence[ScopePart]
    ) -> Iterable[EncodedPart]:
        return map(encode, parts) if len(parts) < 2 else self._encoders.map(encode, parts)

    def _connect(self, *, afresh: bool = False) -> psycopg.Connection:
        if afresh or (self._connection is not None and self._connection.broken):
            self._drop_connection()
        if self._connection is None or self._connection.closed:
            self._connection = self._index.connect(application="committer", lookups=True)
            self._landing.forget()
        return self._connection

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
