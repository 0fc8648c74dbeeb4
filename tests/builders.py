"""Valid values; a test sets only what it is about."""

from accounts.domain.caller import Caller
from accounts.domain.roles import Role
from ampup_site.kernel.clock import Micros
from memory.services.preparing import EpisodeDraft, NoteDraft

NOON = Micros(1_774_966_930_123_456)


def note(body: str = "The Acme renewal is owned by Priya.", **fields: object) -> NoteDraft:
    """Return a note."""
    return NoteDraft(**{"source": "acme", "body": body, **fields})  # type: ignore[arg-type]


def episode(body: str = "Priya: I own the renewal.", **fields: object) -> EpisodeDraft:
    """Return an episode that everyone may read."""
    values = {"source": "note:acme", "body": body, "occurred_at": NOON, "acl": ("*",), **fields}
    return EpisodeDraft(**values)  # type: ignore[arg-type]


def person(user: str, *groups: str, role: Role = Role.PERSONAL) -> Caller:
    """Return a person of any org."""
    return Caller(author=f"user:{user}", role=role, user=user, groups=groups)


def reader(user: str, *groups: str) -> Caller:
    """Return somebody who may only read."""
    return person(user, *groups, role=Role.READER)


def service(key_id: str = "svc00001") -> Caller:
    """Return a service, which is no person."""
    return Caller(author=f"service:{key_id}", role=Role.SERVICE, key_id=key_id)
