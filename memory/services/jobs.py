"""Runs of background work: queued, begun, followed, ended and shown.

A run belongs to one scope and one caller, and is shown to nobody else but administrators.
"""

import logging
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError as BrokerError

from accounts.domain.caller import Caller
from accounts.domain.names import DEFAULT_ORG
from accounts.domain.roles import Action, Role
from accounts.domain.scope import Scope, parse_scope
from accounts.services.permissions import require
from ampup_site.kernel.errors import NotFound
from ampup_site.kernel.ids import JOB
from memory.domain.job import (
    MAX_REFUSALS,
    OPEN_STATES,
    JobKind,
    JobState,
    JobView,
    RefusedItem,
    plain_error,
    storable,
)
from memory.engine import Engine
from memory.models import JobRun
from memory.services.leases import Lease, renew

logger = logging.getLogger(__name__)


def queue_run(
    engine: Engine,
    caller: Caller,
    scope: Scope,
    *,
    kind: JobKind,
    total: int,
    options: dict[str, Any],
    payload: str,
    job: str | None = None,
) -> str:
    """Write down a run that a worker shall do as this caller, ask for it, and return its id.

    Args:
        payload: the spool file's name.
        job: an id minted before; None mints one.
    """
    now = engine.clock.now()
    run = JobRun.objects.create(
        job=job or engine.ids.mint(JOB),
        kind=kind.value,
        namespace=scope.namespace,
        scope=scope.spelling,
        author=caller.author,
        org=caller.org or "",
        caller=asdict(caller),
        state=JobState.QUEUED.value,
        total=total,
        options=options,
        payload=payload,
        queued_at=now,
        heartbeat_at=now,
    )
    transaction.on_commit(lambda: ask_for(run.job))
    return run.job


def ask_for(job: str) -> None:
    """Ask a worker for a run; if nobody can be asked now, the sweep does so later."""
    try:
        current_app.send_task("memory.tasks.run_load", args=[job], retry=False)
    except BrokerError as error:
        logger.warning("job %s waits for the next sweep: %s", job, type(error).__name__)


def start_run(engine: Engine, lease: Lease) -> JobRun | None:
    """Begin the run that a lease is for, or begin it again; None if there is nothing to do."""
    now = engine.clock.now()
    run = JobRun.objects.filter(job=lease.job, state__in=OPEN_STATES).first()
    if run is None:
        return None
    run.attempts += 1
    run.state = JobState.RUNNING.value
    run.started_at = now if run.started_at is None else run.started_at
    run.heartbeat_at = now
    run.save(update_fields=["attempts", "state", "started_at", "heartbeat_at"])
    return run


def record_run(engine: Engine, *, kind: JobKind, namespace: str, author: str) -> JobRun:
    """Write down a run that begins now and that only this process does."""
    now = engine.clock.now()
    return JobRun.objects.create(
        job=engine.ids.mint(JOB),
        kind=kind.value,
        namespace=namespace,
        scope=namespace,
        author=author,
        state=JobState.RUNNING.value,
        attempts=1,
        queued_at=now,
        started_at=now,
        heartbeat_at=now,
    )


def progress(
    lease: Lease,
    run: JobRun,
    *,
    done: int,
    commits: Sequence[str] = (),
    refused: Sequence[RefusedItem] = (),
    watermark: dict[str, Any] | None = None,
) -> None:
    """Renew the lease and write down how far a run is.

    Args:
        commits: those that are new.
        refused: those that are new.
        watermark: where a later attempt goes on.

    Raises:
        LeaseLost: somebody else does the job now; the row is theirs.
    """
    renew(lease)
    run.done = done
    run.commits = [*run.commits, *(commit for commit in commits if commit not in run.commits)]
    room = max(0, MAX_REFUSALS - len(run.refused))
    run.refused = [
        *run.refused,
        *([storable(item.position), storable(item.reason)] for item in refused[:room]),
    ]
    run.watermark = run.watermark if watermark is None else watermark
    run.heartbeat_at = lease.clock.now()
    run.save(update_fields=["done", "commits", "refused", "watermark", "heartbeat_at"])


def postpone(engine: Engine, run: JobRun, error: BaseException, *, counted: bool = False) -> None:
    """Leave a run for a later attempt, saying what it waits for.

    Args:
        counted: whether this attempt was a death; waiting for a disk or a database is none.
    """
    _note(run, error)
    if not counted:
        run.attempts -= 1
    run.state = JobState.QUEUED.value
    run.heartbeat_at = engine.clock.now()
    run.save(update_fields=["attempts", "state", "error", "error_code", "heartbeat_at"])


def finish(engine: Engine, run: JobRun, *, error: BaseException | None = None) -> None:
    """End a run: done, or failed with a plain message."""
    run.state = JobState.DONE.value if error is None else JobState.FAILED.value
    run.error, run.error_code = "", ""
    if error is not None:
        _note(run, error)
    run.ended_at = run.heartbeat_at = engine.clock.now()
    run.save(update_fields=["state", "error", "error_code", "ended_at", "heartbeat_at"])


def get_job(engine: Engine, caller: Caller, scope: Scope, job_id: str) -> JobView:
    """Return a run of this scope to who started it, or to an administrator.

    Raises:
        NotFound: there is none, or it is another scope's or another caller's.
        Forbidden: the caller's role has no jobs.
    """
    del engine
    require(caller, Action.JOBS, scope)
    wanted = (
        storable(job_id) == job_id
        and JobRun.objects.filter(job=job_id, namespace=scope.namespace).first()
    )
    if not wanted or (
        wanted.author != caller.author and caller.role not in {Role.ADMIN, Role.LOCAL}
    ):
        message = "No such job."
        raise NotFound(message, field="job")
    return view_of(wanted)


def view_of(run: JobRun) -> JobView:
    """Return a run as it is shown."""
    return JobView(
        job=run.job,
        kind=JobKind(run.kind),
        state=JobState(run.state),
        done=run.done,
        total=run.total,
        commits=tuple(run.commits),
        refused=tuple(RefusedItem(position, reason) for position, reason in run.refused),
        error=run.error or None,
    )


def caller_of(run: JobRun) -> tuple[Caller, Scope]:
    """Return as whom and where a run acts."""
    fields = dict(run.caller)
    for name in ("groups", "roles", "default_acl"):
        fields[name] = None if fields[name] is None else tuple(fields[name])
    fields["role"] = Role(fields["role"])
    return Caller(**fields), parse_scope(run.scope, default_org=DEFAULT_ORG)


def _note(run: JobRun, error: BaseException) -> None:
    run.error = plain_error(error)
    run.error_code = getattr(error, "code", "internal")
