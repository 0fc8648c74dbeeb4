"""What becomes of runs whose worker is gone: they are asked for again, or end as lost."""

from pathlib import Path
from typing import Final

from django.db.models import Q

from ampup_site.kernel.clock import Micros
from memory.domain.job import (
    LEASE_TERM,
    MAX_ATTEMPTS,
    OPEN_STATES,
    JobKind,
    JobState,
    storable,
)
from memory.engine import Engine
from memory.models import JobLease, JobRun
from memory.services.jobs import ask_for
from memory.services.leases import end_leases_of_the_dead
from memory.services.spool import spooled

_ELSEWHERE: Final = Micros(24 * 3600 * 10**6)
"""How long a load waits for the server whose data folder holds its items to come back."""


def sweep_lost_jobs(
    engine: Engine,
    *,
    holders: Path | None = None,
    spool: Path | None = None,
    at_start: bool = False,
) -> tuple[str, ...]:
    """Ask again for runs whose worker is gone, and end those that died too often.

    A run is left alone while its lease lives, so this may be called at any time and place. So is
    for a day a load whose items are in the data folder of another server.

    Args:
        holders: where the locked files of this data folder's processes are; the leases of those
            that are proven dead end now, others by themselves.
        spool: where this data folder's loads are; None where all can be reached.
        at_start: ask for what waits in the spool as well: a queue in memory went with its
            process, and a run asked for twice is done once.

    Returns:
        The jobs that were ended as lost; what they had loaded stays.
    """
    freed = frozenset[str]() if holders is None else end_leases_of_the_dead(holders)
    now = engine.clock.now()
    silent = Q(heartbeat_at__lte=now - LEASE_TERM) | Q(job__in=freed)
    here = None if spool is None else spooled(spool)
    if at_start and here:
        silent |= Q(state=JobState.QUEUED.value, payload__in=here)
    held = JobLease.objects.filter(expires_at__gt=now).values("job")
    lost = []
    for run in JobRun.objects.filter(silent, state__in=OPEN_STATES).exclude(job__in=held):
        elsewhere = here is not None and bool(run.payload) and run.payload not in here
        if elsewhere and run.heartbeat_at > now - _ELSEWHERE:
            continue
        again = run.attempts < MAX_ATTEMPTS and run.kind == JobKind.LOAD.value
        if again and not elsewhere:
            if _claim(run, now, state=run.state):
                ask_for(run.job)
        elif _claim(run, now, state=JobState.LOST.value, ended_at=now, error=_lost(run)):
            lost.append(run.job)
    return tuple(lost)


def _claim(run: JobRun, now: Micros, **changes: object) -> bool:
    """Change a silent run, if no other sweep or worker has touched it since it was read."""
    untouched = JobRun.objects.filter(job=run.job, heartbeat_at=run.heartbeat_at)
    return bool(untouched.update(heartbeat_at=now, **changes))


def _lost(run: JobRun) -> str:
    how = "Its worker died once." if run.attempts == 1 else f"Its worker died {run.attempts} times."
    if run.attempts < MAX_ATTEMPTS and run.kind == JobKind.LOAD.value:
        how = "The server that holds what it shall load has been away for a day."
    rest = "The next run of its timer begins again."
    if run.kind == JobKind.LOAD.value:
        rest = (
            "What is listed under `commits` is stored; send the same load again for the rest:"
            " what is there is recognised."
        )
    return storable(f"{how} {rest}")
