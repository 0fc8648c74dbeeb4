"""The ACL entries a key may carry, and the names of groups and roles it holds."""

from collections.abc import Iterable

from accounts.domain.names import is_principal
from ampup_site.kernel.errors import BadRequest

EVERYONE = "*"
_KINDS = frozenset({"user", "group", "role"})
_MOST = 32  # specification, section 3


def is_entry(text: str) -> bool:
    """Tell whether `text` is an ACL entry: `*`, or `user:`, `group:`, `role:` and a name.

    Source: specification, section 3.
    """
    kind, colon, name = text.partition(":")
    return text == EVERYONE or (bool(colon) and kind in _KINDS and is_principal(name))


def check_default_acl(entries: Iterable[str]) -> tuple[str, ...]:
    """Return the entries sorted and without repeats; `*` stands for all of them.

    Raises:
        BadRequest: none, too many, or one that is neither `*` nor `user:`, `group:`, `role:`
            and a name.
    """
    unique = tuple(sorted(set(entries)))
    if not 0 < len(unique) <= _MOST:
        message = f"default_acl must have 1 to {_MOST} entries; leave it out for none."
        raise BadRequest(message, field="default_acl")
    if not all(is_entry(entry) for entry in unique):
        message = "default_acl takes *, user:<id>, group:<id> and role:<name> alone."
        raise BadRequest(message, field="default_acl")
    return (EVERYONE,) if EVERYONE in unique else unique


def check_held(names: Iterable[str], *, field: str) -> tuple[str, ...]:
    """Return the group or role names sorted and without repeats.

    Raises:
        BadRequest: too many, or one that could not stand in an ACL.
    """
    unique = tuple(sorted(set(names)))
    if len(unique) > _MOST:
        raise BadRequest(f"{field} must have at most {_MOST} names.", field=field)
    if not all(is_principal(name) for name in unique):
        message = f"{field} takes visible names without blanks and commas, at most 200 long."
        raise BadRequest(message, field=field)
    return unique
