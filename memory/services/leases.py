"""Leases: the right to do a job alone, which ends by itself or with a death that is proven.

Each is taken, kept and given up by one conditional statement; no lock is held between them.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ampup_site.kernel.clock import Clock
from memory.domain.job import LEASE_TERM, LeaseLost
from memory.engine import Engine
from memory.models import JobLease
from memory.services import holders

_HOLDER: Final = "w_"
_BY: Final = ":"
"""Between the process of a holder, where it has appeared, and the holder's own name."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A job that this process alone does until it gives it up or stops renewing it."""

    job: str
    scope: str
    holder: str
    clock: Clock


def take_lease(engine: Engine, *, job: str, scope: str) -> Lease | None:
    """Take a job that nobody holds, or whose holder's lease has ended; None if it is held."""
    now = engine.clock.now()
    process = holders.this_process()
    name = engine.ids.mint(_HOLDER)
    lease = Lease(job, scope, f"{process}{_BY}{name}" if process else name, engine.clock)
    held = {"holder": lease.holder, "heartbeat_at": now, "expires_at": now + LEASE_TERM}
    over = JobLease.objects.filter(job=job, scope=scope, expires_at__lte=now).update(**held)
    if over:
        return lease
    _, made = JobLease.objects.get_or_create(job=job, scope=scope, defaults=held)
    return lease if made else None


def renew(lease: Lease) -> None:
    """Keep a lease for another term.

    Raises:
        LeaseLost: it ended, and somebody else has taken it.
    """
    now = lease.clock.now()
    kept = JobLease.objects.filter(job=lease.job, scope=lease.scope, holder=lease.holder).update(
        heartbeat_at=now, expires_at=now + LEASE_TERM
    )
    if not kept:
        message = "Another worker has taken this job over."
        raise LeaseLost(message)


def release(lease: Lease) -> None:
    """Give a lease up; one that somebody else has taken stays theirs."""
    JobLease.objects.filter(job=lease.job, scope=lease.scope, holder=lease.holder).delete()


def end_leases_of_the_dead(folder: Path) -> frozenset[str]:
    """End every lease whose holder's process is proven to be gone; return their jobs.

    Args:
        folder: where the processes of this data folder keep their locked files.
    """
    ended = set()
    for lease in JobLease.objects.all():
        process, _, name = lease.holder.partition(_BY)
        if not name or not holders.is_dead(folder, process):
            continue
        if JobLease.objects.filter(pk=lease.pk, holder=lease.holder).delete()[0]:
            ended.add(lease.job)
    holders.bury(folder)
    return frozenset(ended)
