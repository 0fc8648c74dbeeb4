"""Which timer runs which task, every how many seconds: the timers as values."""

from dataclasses import dataclass
from typing import Any, Final

from ampup_site.settings.env import DailyWindow

_QUARTER_HOUR: Final = 900
_HOUR: Final = 3_600


@dataclass(frozen=True, slots=True)
class Timer:
    """One task and its period.

    Args:
        name: what the console shows.
        task: the Celery task's name.
        every: seconds; None = stopped.
    """

    name: str
    task: str
    every: int | None


def timers(*, sweep_secs: int | None, window: DailyWindow) -> tuple[Timer, ...]:
    """Return every timer of the server.

    The nightly compaction is asked for each quarter of an hour, and the task itself says whether
    the window is open and this night's work is done: so a server that was down at the window's
    start still does it. Removal runs by day too: a busy server makes three metadata files a
    commit, and two looks are needed before one goes.

    Args:
        sweep_secs: period of the sweep of lost jobs.
        window: when compaction may run; an empty one stops it and removal.
    """
    stopped = window.start == window.end
    return (
        Timer(name="sweep lost jobs", task="memory.tasks.sweep_jobs", every=sweep_secs),
        Timer(
            name="nightly compaction",
            task="memory.tasks.compact",
            every=None if stopped else _QUARTER_HOUR,
        ),
        Timer(
            name="hourly removal",
            task="memory.tasks.remove_unreachable",
            every=None if stopped else _HOUR,
        ),
    )


def beat_schedule(all_timers: tuple[Timer, ...]) -> dict[str, dict[str, Any]]:
    """Return Celery's form of the timers that are not stopped.

    A tick that a busy worker has not taken by the next one is dropped: every task is a sweep.
    """
    return {
        timer.name: {
            "task": timer.task,
            "schedule": float(timer.every),
            "options": {"expires": float(timer.every)},
        }
        for timer in all_timers
        if timer.every is not None
    }
