"""The Celery app: tasks are found in each app's `tasks.py`, timers in `schedule.py`."""

from celery import Celery
from django.conf import settings

from ampup_site.schedule import beat_schedule, timers

app = Celery("ampup")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.beat_schedule = beat_schedule(
    timers(sweep_secs=settings.AMPUP_SWEEP_SECS, window=settings.AMPUP_MAINTAIN_WINDOW)
)
app.autodiscover_tasks(["memory"])
app.set_default()
