"""Upkeep of the tables: nightly small files become one, hourly what nothing reaches goes."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ampup_site.kernel.clock import Micros
from memory.domain.errors import CatalogBehind
from memory.domain.job import MAX_ATTEMPTS, JobKind, JobState, LeaseLost, window_opened
from memory.engine import Engine
from memory.models import JobRun
from memory.services import jobs, leases
from memory.tables.catalog import TableKey, read_pointers
from memory.tables.compaction import compact
from memory.tables.layouts import LEDGER_NAMESPACE
from memory.tables.upkeep import Removal, remove_unreachable

logger = logging.getLogger(__name__)

_COMPACT: Final = "compact"
_REMOVE: Final = "remove"
_AUTHOR: Final = "job:compact"


@dataclass(frozen=True, slots=True)
class UpkeepReport:
    """What a nightly upkeep did.

    Args:
        rewritten: small files that became part of larger ones.
        left: tables it did not come to before the window closed.
    """

    tables: int
    rewritten: int
    left: int


@dataclass(frozen=True, slots=True)
class RemovalReport:
    """What a removal did.

    Args:
        files: that nothing reached any more.
        waiting: files that nothing reaches and whose grace is not over.
        failed: tables it could not look through; the log says why.
    """

    tables: int
    files: int
    bytes: int
    waiting: int
    failed: int


def compact_tables(
    engine: Engine, *, go_on: Callable[[], bool], done: Callable[[int, int], None]
) -> UpkeepReport:
    """Compact every table as far as it goes; one that cannot be holds up no other, and is raised.

    Args:
        go_on: asked before each rewrite; False leaves the rest for the next night.
        done: told how many tables are done, and of how many.
    """
    keys = _tables(engine)
    rewritten = compacted = 0
    failed: Exception | None = None
    for key in keys:
        if not go_on():
            break
        try:
            rewritten += _compact_whole(engine, key, go_on)
        except LeaseLost:
            raise
        except Exception as error:
            # A damaged file too: the other tables still gather small ones.
            logger.exception("%s.%s was not compacted", *key)
            failed = failed or error
            continue
        compacted += 1
        done(compacted, len(keys))
    if failed is not None:
        raise failed
    return UpkeepReport(compacted, rewritten, left=len(keys) - compacted)


def remove_unreachable_files(engine: Engine) -> RemovalReport | None:
    """Remove from every table what nothing has reached for long enough; None if others do it.

    A table that cannot be looked through keeps its files and holds up no other.
    """
    lease = leases.take_lease(engine, job=_REMOVE, scope=LEDGER_NAMESPACE)
    if lease is None:
        return None
    try:
        return _remove(engine, lease)
    except LeaseLost:
        return None
    finally:
        leases.release(lease)


def _remove(engine: Engine, lease: leases.Lease) -> RemovalReport:
    removals: list[Removal] = []
    failed = 0
    for key in _tables(engine):
        leases.renew(lease)
        try:
            removals.append(remove_unreachable(engine.warehouse, key))
        except CatalogBehind as behind:
            logger.warning("nothing was removed from %s.%s: %s", *key, behind.message)
            failed += 1
        except Exception:
            # A damaged file too: the other tables still grow by three files a commit.
            logger.exception("nothing was removed from %s.%s", *key)
            failed += 1
    return RemovalReport(
        tables=len(removals),
        files=sum(removal.files for removal in removals),
        bytes=sum(removal.bytes for removal in removals),
        waiting=sum(removal.waiting for removal in removals),
        failed=failed,
    )


def run_nightly(engine: Engine, *, start: int, end: int) -> UpkeepReport | None:
    """Do tonight's upkeep, if the window is open, it is not done yet and nobody else does it.

    Args:
        start: minutes since midnight, UTC.
        end: minutes since midnight, UTC.
    """
    opened = window_opened(engine.clock.now(), start=start, end=end)
    if opened is None or _done_since(opened):
        return None
    lease = leases.take_lease(engine, job=_COMPACT, scope=LEDGER_NAMESPACE)
    if lease is None:
        return None
    try:
        return None if _done_since(opened) else _run(engine, lease, start=start, end=end)
    finally:
        leases.release(lease)


def _run(engine: Engine, lease: leases.Lease, *, start: int, end: int) -> UpkeepReport | None:
    run = jobs.record_run(engine, kind=JobKind.COMPACT, namespace=LEDGER_NAMESPACE, author=_AUTHOR)
    seq = engine.warehouse.ledger_seq()

    def done(count: int, total: int) -> None:
        run.total = total
        run.save(update_fields=["total"])
        jobs.progress(lease, run, done=count, watermark={"seq": seq})

    def go_on() -> bool:
        leases.renew(lease)
        # The lease is the job's, the heartbeat the run's: without one it is taken for dead.
        run.heartbeat_at = engine.clock.now()
        run.save(update_fields=["heartbeat_at"])
        return window_opened(engine.clock.now(), start=start, end=end) is not None

    try:
        report = compact_tables(engine, go_on=go_on, done=done)
    except LeaseLost:
        return None
    except Exception as error:
        logger.exception("the nightly upkeep failed")
        jobs.finish(engine, run, error=error)
        return None
    jobs.finish(engine, run)
    return report


def _tables(engine: Engine) -> list[TableKey]:
    with engine.warehouse.connected() as connection:
        return sorted(read_pointers(connection))


def _compact_whole(engine: Engine, key: TableKey, go_on: Callable[[], bool]) -> int:
    """Compact a table until no size class of it has enough files; return how many went."""
    files = 0
    while go_on() and (compaction := compact(engine.warehouse, key)) is not None:
        files += compaction.files
    return files


def _done_since(moment: Micros) -> bool:
    """Say whether a run has ended well since, or so many have not that another would not."""
    ended = JobRun.objects.filter(kind=JobKind.COMPACT.value, ended_at__gte=moment)
    states = list(ended.values_list("state", flat=True))
    return JobState.DONE.value in states or len(states) >= MAX_ATTEMPTS
