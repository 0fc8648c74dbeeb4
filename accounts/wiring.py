"""Reads this app's settings, for its entry points; services get values."""

from dataclasses import dataclass

from django.conf import settings

from accounts.domain.names import DEFAULT_ORG
from ampup_site.kernel.clock import Clock, SystemClock


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
