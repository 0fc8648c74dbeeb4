"""Roles, the actions there are, and which role may do which: the rights table as data."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Role(StrEnum):
    """What a caller is; `local` is `serve --local` and the shell, and no key has it."""

    READER = "reader"
    INGEST = "ingest"
    RECORDER = "recorder"
    SERVICE = "service"
    PERSONAL = "personal"
    ADMIN = "admin"
    LOCAL = "local"


KEY_ROLES: Final = tuple(role for role in Role if role is not Role.LOCAL)


class Action(StrEnum):
    """A thing a caller may be allowed to ask for."""

    READ = "read"
    REMEMBER = "remember"
    INGEST = "ingest"
    CLOSE = "close"
    FORGET = "forget"
    AMEND_ACL = "amend_acl"
    ERASE = "erase"
    JOBS = "jobs"
    ADVISE = "advise"
    RECORD = "record"
    KEEP = "keep"
    PIN = "pin"
    BRANCH = "branch"
    MERGE = "merge"
    INDEX_STATUS_COUNTS = "index_status_counts"
    LOG = "log"
    AT = "at"
    REBUILD = "rebuild"
    ADMINISTER = "administer"


_READER, _INGEST, _RECORDER = Role.READER, Role.INGEST, Role.RECORDER
_SERVICE, _PERSONAL, _ADMIN, _LOCAL = Role.SERVICE, Role.PERSONAL, Role.ADMIN, Role.LOCAL

RIGHTS: Final[Mapping[Action, frozenset[Role]]] = MappingProxyType(
    {
        # Specification, section 4. A person closes values of their own notes alone; the service
        # that closes checks whose they are.
        Action.READ: frozenset({_READER, _SERVICE, _PERSONAL, _ADMIN, _LOCAL}),
        Action.REMEMBER: frozenset({_INGEST, _SERVICE, _PERSONAL, _ADMIN, _LOCAL}),
        Action.INGEST: frozenset({_INGEST, _SERVICE, _ADMIN, _LOCAL}),
        Action.CLOSE: frozenset({_SERVICE, _PERSONAL, _ADMIN, _LOCAL}),
        Action.ADVISE: frozenset({_READER, _RECORDER, _SERVICE, _PERSONAL, _ADMIN, _LOCAL}),
        Action.RECORD: frozenset({_RECORDER, _SERVICE, _PERSONAL, _ADMIN, _LOCAL}),
        Action.KEEP: frozenset({_PERSONAL}),
        Action.PIN: frozenset({_READER, _SERVICE, _PERSONAL, _ADMIN, _LOCAL}),
        Action.BRANCH: frozenset({_SERVICE, _ADMIN, _LOCAL}),
        Action.MERGE: frozenset({_ADMIN, _LOCAL}),
        Action.AMEND_ACL: frozenset({_INGEST, _SERVICE, _ADMIN, _LOCAL}),
        Action.LOG: frozenset({_SERVICE, _ADMIN, _LOCAL}),
        Action.INDEX_STATUS_COUNTS: frozenset({_SERVICE, _ADMIN, _LOCAL}),
        Action.AT: frozenset({_ADMIN, _LOCAL}),
        Action.ADMINISTER: frozenset({_ADMIN, _LOCAL}),
        Action.REBUILD: frozenset({_ADMIN, _LOCAL}),
        # Ours, where the table is silent: forgetting takes reading and remembering both, since
        # what a caller cannot read is not there for it (whose note it is, the service checks); a
        # job is seen by who may start one.
        Action.FORGET: frozenset({_SERVICE, _PERSONAL, _ADMIN, _LOCAL}),
        Action.JOBS: frozenset({_INGEST, _SERVICE, _ADMIN, _LOCAL}),
        Action.ERASE: frozenset({_ADMIN, _LOCAL}),
    }
)


def allows(role: Role, action: Action) -> bool:
    """Tell whether the rights table lets a role do something at all, in whatever scope."""
    return role in RIGHTS[action]


def rights_of(role: Role) -> tuple[Action, ...]:
    """Return everything a role may do, in the order of `Action`."""
    return tuple(action for action in Action if allows(role, action))
