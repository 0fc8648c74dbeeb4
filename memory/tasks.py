"""The Celery tasks of memory: each calls one service, and may be asked for twice."""

from celery import shared_task

from memory.services import jobs, loads, upkeep
from memory.wiring import engine, maintain_window, spool_folder


@shared_task(name="memory.tasks.run_load", ignore_result=True)  # type: ignore[untyped-decorator]
def run_load(job: str) -> None:
    """Do a background load, or go on with one whose worker died."""
    loads.run_load(engine(), job, spool=spool_folder())


@shared_task(name="memory.tasks.compact", ignore_result=True)  # type: ignore[untyped-decorator]
def compact() -> None:
    """Do tonight's compaction of the tables, once and only within its window."""
    start, end = maintain_window()
    upkeep.run_nightly(engine(), start=start, end=end)


@shared_task(name="memory.tasks.remove_unreachable", ignore_result=True)  # type: ignore[untyped-decorator]
def remove_unreachable() -> None:
    """Remove files of the tables that nothing has reached for long enough."""
    upkeep.remove_unreachable_files(engine())


@shared_task(name="memory.tasks.sweep_jobs", ignore_result=True)  # type: ignore[untyped-decorator]
def sweep_jobs() -> None:
    """Resume runs whose worker is gone, and drop what ended runs left in the spool."""
    jobs.sweep_lost_jobs(engine())
    loads.clean_spool(engine(), spool=spool_folder())
