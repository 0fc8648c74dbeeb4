"""The nightly upkeep: small files become one, and files that nothing reaches any more go."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import psycopg

from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import AmpUpError
from memory.domain.job import MAX_ATTEMPTS, JobKind, JobState, LeaseLost, window_opened
from memory.engine import Engine
from memory.models import JobRun
from memory.services import jobs
from memory.tables.catalog import TableKey, read_pointers
from memory.tables.compaction import compact
from memory.tables.layouts import LEDGER_NAMESPACE
from memory.tables.upkeep import remove_unreachable

logger = logging.getLogger(__name__)

_JOB: Final = "compact"
_AUTHOR: Final = "job:compact"


@dataclass(frozen=True, slots=True)
class UpkeepReport:
    """What an upkeep did.

    Args:
        rewritten: small files that became part of larger ones.
        removed: files that nothing reached any more.
        left: tables it did not come to before the window closed.
    """

    tables: int
    rewritten: int
    removed: int
    bytes_removed: int
    left: int


def keep_tables(
    engine: Engine, *, go_on: Callable[[], bool], done: Callable[[int, int], None]
) -> UpkeepReport:
    """Compact every table and remove what is unreachable and old.

    Args:
        go_on: asked before each rewrite; False leaves the rest for the next night.
        done: told how many tables are done, and of how many.

    Raises:
        CatalogBehind: the catalog is older than the warehouse; that table's files all stay.
    """
    with engine.warehouse.connected() as connection:
        keys = sorted(read_pointers(connection))
    rewritten = removed = size = kept = 0
    for key in keys:
        if not go_on():
            break
        rewritten += _compact_whole(engine, key, go_on)
        removal = remove_unreachable(engine.warehouse, key)
        removed, size, kept = removed + removal.files, size + removal.bytes, kept + 1
        done(kept, len(keys))
    return UpkeepReport(kept, rewritten, removed, size, left=len(keys) - kept)


def run_nightly(engine: Engine, *, start: int, end: int) -> UpkeepReport | None:
    """Do tonight's upkeep, if the window is open, it is not done yet and nobody else does it.

    Args:
        start: minutes since midnight, UTC.
        end: minutes since midnight, UTC.
    """
    opened = window_opened(engine.clock.now(), start=start, end=end)
    if opened is None or _done_since(opened):
        return None
    lease = jobs.take_lease(engine, job=_JOB, scope=LEDGER_NAMESPACE)
    if lease is None:
        return None
    try:
        return None if _done_since(opened) else _run(engine, lease, start=start, end=end)
    finally:
        jobs.release(lease)


def _run(engine: Engine, lease: jobs.Lease, *, start: int, end: int) -> UpkeepReport | None:
    run = jobs.record_run(engine, kind=JobKind.COMPACT, namespace=LEDGER_NAMESPACE, author=_AUTHOR)
    seq = engine.warehouse.ledger_seq()

    def done(count: int, total: int) -> None:
        run.total = total
        run.save(update_fields=["total"])
        jobs.progress(lease, run, done=count, watermark={"seq": seq})

    def go_on() -> bool:
        jobs.renew(lease)
        return window_opened(engine.clock.now(), start=start, end=end) is not None

    try:
        report = keep_tables(engine, go_on=go_on, done=done)
    except LeaseLost:
        return None
    except (AmpUpError, OSError, psycopg.Error) as error:
        logger.exception("the nightly upkeep failed")
        jobs.finish(engine, run, error=error)
        return None
    jobs.finish(engine, run)
    return report


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
