"""Timers as values."""

from ampup_site.schedule import beat_schedule, timers
from ampup_site.settings.env import DailyWindow
from memory import tasks

NIGHT = DailyWindow(start=120, end=240)


def test_every_timer_names_a_task_and_expires_with_its_period() -> None:
    """Ours: a tick that a busy worker left is not made up for."""
    plan = beat_schedule(timers(sweep_secs=60, window=NIGHT))
    assert plan["sweep lost jobs"] == {
        "task": "memory.tasks.sweep_jobs",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    }
    assert plan["nightly compaction"]["task"] == "memory.tasks.compact"
    removal = plan["hourly removal"]
    assert (removal["task"], removal["schedule"]) == ("memory.tasks.remove_unreachable", 3_600.0)


def test_every_timer_names_a_task_that_there_is() -> None:
    """Ours: a task that was renamed would be dropped by the worker in silence."""
    every = timers(sweep_secs=60, window=NIGHT)
    assert {timer.task.rpartition(".")[2] for timer in every} <= vars(tasks).keys()


def test_a_stopped_timer_is_not_in_the_plan() -> None:
    """Documented: `0` or `off` stops a timer."""
    assert beat_schedule(timers(sweep_secs=None, window=DailyWindow(start=0, end=0))) == {}
