"""A Celery worker and beat as threads of this process."""

import logging
import threading
from dataclasses import dataclass
from typing import Any, Final

from celery import beat
from celery.utils.nodenames import default_nodename
from django_celery_beat.models import PeriodicTask, PeriodicTasks
from kombu.exceptions import OperationalError as BrokerError

from ampup_site.celery import app

logger = logging.getLogger(__name__)

_WORKER_THREADS: Final = 2
_STOP_SECS: Final = 5.0


@dataclass(slots=True)
class Background:
    """What runs beside the web server.

    Args:
        worker: Celery's worker, None where another process has it.
        ticker: Celery's beat, None where timers are off.
        threads: one for each of them.
    """

    worker: Any
    ticker: Any
    threads: tuple[threading.Thread, ...]

    def stop(self) -> None:
        """Take no more tasks and leave the threads; running tasks are daemons and resumable."""
        if self.ticker is not None:
            self.ticker.stop()
        if self.worker is not None:
            self.worker.stop()
        for thread in self.threads:
            thread.join(_STOP_SECS)


def start_background(*, worker: bool, beat_too: bool) -> Background:
    """Start a worker, beat, or both, each in a thread of its own."""
    work = _worker() if worker else None
    tick = _ticker() if beat_too else None
    threads = []
    if work is not None:
        threads.append(threading.Thread(target=work.start, name="worker", daemon=True))
    if tick is not None:
        threads.append(threading.Thread(target=_tick, args=(tick,), name="beat", daemon=True))
    for thread in threads:
        thread.start()
    if worker:
        _resume()
    return Background(worker=work, ticker=tick, threads=tuple(threads))


def _resume() -> None:
    """Ask for what the worker before this one left."""
    try:
        app.send_task("memory.tasks.resume_jobs", retry=False)
    except BrokerError as error:
        logger.warning("lost jobs wait for their sweep: %s", type(error).__name__)


def _worker() -> Any:
    app.finalize()
    return app.WorkController(
        pool="threads",
        concurrency=_WORKER_THREADS,
        hostname=default_nodename(None),
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        loglevel="WARNING",
        quiet=True,
    )


def _ticker() -> Any:
    _stop_dropped_timers()
    return beat.Service(app, max_interval=1, scheduler_cls=app.conf.beat_scheduler)


def _tick(service: Any) -> None:
    try:
        service.start(embedded_process=False)
    except Exception:
        logger.exception("beat died; timers stand still until the next start")


def _stop_dropped_timers() -> None:
    """Disable rows of timers that a variable stopped: beat alone never removes one."""
    ours = PeriodicTask.objects.filter(task__startswith="memory.tasks.")
    dropped = ours.exclude(name__in=list(app.conf.beat_schedule)).filter(enabled=True)
    if dropped.update(enabled=False):
        PeriodicTasks.update_changed()
