"""Reads the settings that every edge keeps to; services get values."""

from dataclasses import dataclass

from django.conf import settings
from django.db import close_old_connections

from accounts.domain.names import DEFAULT_ORG
from ampup_site.kernel.clock import Clock, SystemClock
from ampup_site.kernel.threads import configure

# Here, since no edge does without this module; the pool itself is made at its first use.
configure(size=lambda: int(settings.AMPUP_THREADS), around=close_old_connections)


@dataclass(frozen=True, slots=True)
class Door:
    """What an entry point needs to know who asks.

    Args:
        local: whether the server is `serve --local`, where no key means its owner.
        default_org: the org that a request without one means.
    """

    clock: Clock
    local: bool
    default_org: str


def door() -> Door:
    """Return the settings as they are now."""
    return Door(
        clock=SystemClock(),
        local=bool(getattr(settings, "AMPUP_LOCAL", False)),
        default_org=str(getattr(settings, "AMPUP_DEFAULT_ORG", DEFAULT_ORG)),
    )


@dataclass(frozen=True, slots=True)
class Gate:
    """What a request must keep to before it is read.

    Args:
        hosts: names the server is called by, as Django's `ALLOWED_HOSTS`.
        max_body: bytes of a request's body.
    """

    hosts: tuple[str, ...]
    max_body: int


def gate() -> Gate:
    """Return the settings as they are now."""
    return Gate(hosts=tuple(settings.ALLOWED_HOSTS), max_body=settings.AMPUP_MAX_BODY_BYTES)
