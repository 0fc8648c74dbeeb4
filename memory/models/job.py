"""Rows of background work: who holds a job now, and what became of each run."""

from django.db import models
from typing_extensions import override

from memory.domain.job import JobKind, JobState


class JobLease(models.Model):
    """The right to do a job; it ends by itself, so a dead holder blocks nobody for long."""

    job = models.CharField(max_length=64)
    scope = models.CharField(max_length=160)
    holder = models.CharField(max_length=64)
    heartbeat_at = models.BigIntegerField()
    expires_at = models.BigIntegerField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("job", "scope"), name="memory_lease_one_holder"),
        )

    @override
    def __str__(self) -> str:
        return f"{self.job} {self.scope}"


class JobRun(models.Model):
    """One run: how far it is, what it made, and as whom it acts.

    `caller` holds the fields of a Caller; `options` and `watermark` are the job's own;
    `payload` is a file's name in the spool folder.
    """

    job = models.CharField(max_length=64, unique=True)
    kind = models.CharField(max_length=16, choices=[(kind.value, kind.value) for kind in JobKind])
    namespace = models.CharField(max_length=160)
    author = models.CharField(max_length=210)
    org = models.CharField(max_length=63, blank=True)
    caller = models.JSONField(default=dict)
    scope = models.CharField(max_length=320)
    state = models.CharField(
        max_length=8, choices=[(state.value, state.value) for state in JobState]
    )
    attempts = models.IntegerField(default=0)
    done = models.IntegerField(default=0)
    total = models.IntegerField(default=0)
    commits = models.JSONField(default=list)
    refused = models.JSONField(default=list)
    options = models.JSONField(default=dict)
    watermark = models.JSONField(default=dict)
    error_code = models.CharField(max_length=64, blank=True)
    error = models.TextField(blank=True)
    payload = models.CharField(max_length=128, blank=True)
    queued_at = models.BigIntegerField()
    started_at = models.BigIntegerField(null=True, blank=True)
    heartbeat_at = models.BigIntegerField()
    ended_at = models.BigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        indexes = (
            models.Index(fields=("state", "heartbeat_at"), name="memory_job_open"),
            models.Index(fields=("kind", "ended_at"), name="memory_job_kind"),
        )

    @override
    def __str__(self) -> str:
        return self.job
