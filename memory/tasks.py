"""The Celery tasks of memory: each calls one service, and may be asked for twice."""

from celery import shared_task

from memory.engine import Engine
from memory.services import holders, loads, lost_jobs, upkeep
from memory.wiring import engine, holders_folder, maintain_window, spool_folder


@shared_task(name="memory.tasks.run_load", ignore_result=True)  # type: ignore[untyped-decorator]
def run_load(job: str) -> None:
    """Do a background load, or go on with one whose worker died."""
    loads.run_load(_engine(), job, spool=spool_folder())


@shared_task(name="memory.tasks.compact", ignore_result=True)  # type: ignore[untyped-decorator]
def compact() -> None:
    """Do tonight's compaction of the tables, once and only within its window."""
    start, end = maintain_window()
    upkeep.run_nightly(_engine(), start=start, end=end)


@shared_task(name="memory.tasks.remove_unreachable", ignore_result=True)  # type: ignore[untyped-decorator]
def remove_unreachable() -> None:
    """Remove files of the tables that nothing has reached for long enough."""
    upkeep.remove_unreachable_files(_engine())


@shared_task(name="memory.tasks.sweep_jobs", ignore_result=True)  # type: ignore[untyped-decorator]
def sweep_jobs() -> None:
    """Resume runs whose worker is gone, and drop what ended runs left in the spool."""
    lost_jobs.sweep_lost_jobs(_engine(), holders=holders_folder(), spool=spool_folder())
    loads.clean_spool(_engine(), spool=spool_folder())


@shared_task(name="memory.tasks.resume_jobs", ignore_result=True)  # type: ignore[untyped-decorator]
def resume_jobs() -> None:
    """Take up at a worker's start what the one before it left, without waiting for its lease."""
    lost_jobs.sweep_lost_jobs(
        _engine(), holders=holders_folder(), spool=spool_folder(), at_start=True
    )


def _engine() -> Engine:
    """Return the engine; from now on it is told at once when this worker has died."""
    held = engine()
    holders.appear(holders_folder(), held.ids)
    return held
