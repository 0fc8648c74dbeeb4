"""Reads the settings of this edge."""

from dataclasses import dataclass

from django.conf import settings

from accounts.wiring import gate
from mcp_gateway.listing import Catalogue


@dataclass(frozen=True, slots=True)
class Gateway:
    """What this edge runs on.

    Args:
        hosts: names the server is called by, as Django's `ALLOWED_HOSTS`.
        max_body: bytes of a request's body.
        max_depth: nested arrays and objects of a message.
    """

    hosts: tuple[str, ...]
    max_body: int
    max_depth: int
    catalogue: Catalogue


def gateway() -> Gateway:
    """Return the settings as they are now."""
    kept = gate()
    return Gateway(
        hosts=kept.hosts,
        max_body=kept.max_body,
        max_depth=settings.AMPUP_MAX_JSON_DEPTH,
        catalogue=Catalogue(names=tuple(settings.AMPUP_MCP_TOOLS)),
    )
