"""What is asked of a new key, and a stored key without its secret."""

from dataclasses import dataclass, field

from accounts.domain.roles import Role
from ampup_site.kernel.clock import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyDraft:
    """A key to be made.

    Args:
        role: any but `local`; `personal` if and only if there is a `person`.
        org: None for the maker's own org, or for any if the maker is bound to none.
        person: user id; someone unknown becomes a person of that org.
        groups: names without `group:`.
        roles: names without `role:`.
        default_acl: None or at least one entry.
    """

    role: Role
    org: str | None = None
    team: str | None = None
    person: str | None = None
    groups: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    default_acl: tuple[str, ...] | None = None
    toolset: str = "ampup"
    label: str = ""
    expires_at: Micros | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRecord:
    """A stored key; `last_used_at` is right to about an hour."""

    public_id: str
    role: Role
    org: str | None
    team: str | None
    person: str | None
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    default_acl: tuple[str, ...] | None
    toolset: str
    label: str
    created_by: str
    created_at: Micros
    expires_at: Micros | None
    revoked_at: Micros | None
    last_used_at: Micros | None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made; `text` is the only time its secret is seen."""

    record: KeyRecord
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeyPage:
    """Keys, the newest first; `next_cursor` is the last one's public id if more follow."""

    keys: tuple[KeyRecord, ...]
    next_cursor: str | None
