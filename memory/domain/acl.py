"""Who may read an episode: a short flat list of entries, any one of which suffices."""

from collections.abc import Iterable, Sequence
from typing import NewType

from accounts.domain.entries import EVERYONE, is_entry
from ampup_site.kernel.errors import BadRequest
from memory.domain.limits import MAX_ACL_ENTRIES

Acl = NewType("Acl", tuple[str, ...])
"""Entries, each once, sorted; `("*",)` for everyone."""


def parse_acl(entries: Sequence[str], *, field: str) -> Acl:
    """Return entries in their one canonical form.

    Raises:
        BadRequest: there is none, there are too many, or one is no entry.

    Source: specification, section 3.
    """
    if not entries:
        message = f'`{field}` must name who may read it, for example ["*"] or ["group:sales"].'
        raise BadRequest(message, field=field)
    if len(entries) > MAX_ACL_ENTRIES:
        message = (
            f"`{field}` has {len(entries)} entries; the limit is {MAX_ACL_ENTRIES}: use a group."
        )
        raise BadRequest(message, field=field)
    if not all(is_entry(entry) for entry in entries):
        message = f"`{field}` entries are `*`, `user:<id>`, `group:<id>` or `role:<name>`."
        raise BadRequest(message, field=field)
    if EVERYONE in entries:
        return Acl((EVERYONE,))
    return Acl(tuple(sorted(set(entries))))


def matches(acl: Acl, entries: Iterable[str]) -> bool:
    """Say whether someone who holds these entries may read: the model of the bitmaps."""
    return not set(acl).isdisjoint(entries)
