"""A scope: the org, team or person whose memory is meant, its spelling and its namespace."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from accounts.domain.errors import BadScope
from accounts.domain.names import check_name, check_person

_USER_DIGEST_LENGTH = 32  # hex digits; specification, section 2


class ScopeKind(StrEnum):
    """Whose memory a scope holds."""

    ORG = "org"
    TEAM = "team"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Scope:
    """One isolated memory; made by `org_scope`, `team_scope` and `user_scope`, which check names.

    A person's scope stands beside the orgs, so it has no `org`.
    """

    kind: ScopeKind
    org: str | None = None
    team: str | None = None
    user: str | None = None

    @classmethod
    def org_scope(cls, org: str) -> "Scope":
        """Return the scope an org shares.

        Raises:
            BadScope: `org` is no name.
        """
        return cls(ScopeKind.ORG, org=check_name(org, field="org"))

    @classmethod
    def team_scope(cls, *, org: str, team: str) -> "Scope":
        """Return the scope of a team of an org.

        Raises:
            BadScope: `org` or `team` is no name.
        """
        checked = check_name(org, field="org")
        return cls(ScopeKind.TEAM, org=checked, team=check_name(team, field="team"))

    @classmethod
    def user_scope(cls, user: str) -> "Scope":
        """Return a person's own scope.

        Raises:
            BadScope: `user` is no user id.
        """
        return cls(ScopeKind.USER, user=check_person(user, field="user"))

    @property
    def namespace(self) -> str:
        """The catalog's namespace; different scopes never share one.

        A team's has a double underscore, which no name contains; a person's is a digest, so
        that a user id never becomes a path.

        Source: specification, section 2.
        """
        if self.kind is ScopeKind.USER:
            digest = hashlib.sha256(str(self.user).encode()).hexdigest()
            return f"user_{digest[:_USER_DIGEST_LENGTH]}"
        if self.kind is ScopeKind.TEAM:
            return f"team_{self.org}__{self.team}"
        return f"org_{self.org}"

    @property
    def spelling(self) -> str:
        """The full spelling, which `parse_scope` reads back whatever the default org is."""
        if self.kind is ScopeKind.USER:
            return f"user:{self.user}"
        if self.kind is ScopeKind.TEAM:
            return f"team:{self.org}/{self.team}"
        return f"org:{self.org}"


def parse_scope(text: str, *, default_org: str) -> Scope:
    """Read `org`, `org:<org>`, `team:<team>`, `team:<org>/<team>` or `user:<id>`.

    Args:
        text: no blanks are forgiven.
        default_org: the org that `org` and `team:<team>` mean.

    Raises:
        BadScope: none of these.

    Source: concepts, "Scopes".
    """
    kind, colon, rest = text.partition(":")
    if kind == "org":
        return Scope.org_scope(rest if colon else default_org)
    if kind == "team" and colon:
        org, slash, team = rest.rpartition("/")
        return Scope.team_scope(org=org if slash else default_org, team=team)
    if kind == "user" and colon:
        return Scope.user_scope(rest)
    message = "scope must be org, org:<org>, team:<team>, team:<org>/<team> or user:<id>."
    raise BadScope(message, field="scope")
