"""Orgs and teams as values."""

from dataclasses import dataclass

from ampup_site.kernel.clock import Micros


@dataclass(frozen=True, slots=True)
class OrgRecord:
    """An org."""

    org: str
    created_at: Micros


@dataclass(frozen=True, slots=True)
class TeamRecord:
    """A team and the org it is of."""

    org: str
    team: str
    created_at: Micros
