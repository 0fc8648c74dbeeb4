"""A caller: who asks, in which role, bound to what, holding which ACL entries."""

from dataclasses import dataclass

from accounts.domain.roles import Role


@dataclass(frozen=True, slots=True)
class Caller:
    """One authenticated asker, made anew for each request; it is never cached.

    Args:
        author: what the ledger says: `user:<id>`, `service:<public id>`, `key:<public id>` or
            `local`.
        org: the only org it may use; None for any.
        team: the only team of that org it may use; None for any.
        user: the person it acts as; None for services, other keys and `serve --local`.
        groups: names without `group:`.
        roles: names without `role:`; they grant sight, not rights.
        default_acl: the entries an ingested episode gets if it names none.
        key_id: the key's public id.
        time_zone: IANA name; words such as "yesterday" are read in it.
    """

    author: str
    role: Role
    org: str | None = None
    team: str | None = None
    user: str | None = None
    groups: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    default_acl: tuple[str, ...] | None = None
    key_id: str | None = None
    time_zone: str = "UTC"

    def entries(self) -> tuple[str, ...]:
        """Return the ACL entries it holds, `*` first."""
        return (
            "*",
            *((f"user:{self.user}",) if self.user is not None else ()),
            *(f"group:{group}" for group in self.groups),
            *(f"role:{role}" for role in self.roles),
        )

    @property
    def sees_all(self) -> bool:
        """Whether no ACL hides anything from it: `serve --local` and the shell alone."""
        return self.role is Role.LOCAL

    @property
    def signature(self) -> str:
        """How a note's source names it: a user id, `service.<public id>` or `local`.

        Source: specification, section 6.
        """
        if self.user is not None:
            return self.user
        if self.key_id is not None:
            return f"service.{self.key_id}"
        return "local"


def local_caller() -> Caller:
    """Return the one who runs the server on their own machine: every right, in every scope."""
    return Caller(author="local", role=Role.LOCAL, roles=("local",))
