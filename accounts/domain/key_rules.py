"""What a new key may be: its role, its person, its lists and its expiry, checked without I/O."""

from dataclasses import replace
from typing import Final

from accounts.domain.entries import check_default_acl, check_held
from accounts.domain.key import KeyDraft
from accounts.domain.names import check_name, check_person
from accounts.domain.roles import KEY_ROLES, Role
from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import BadRequest

ANY_ORG: Final = "*"
"""The org of a key that is bound to none."""

_TOOLSETS = ("ampup",)
_LONGEST_LABEL = 100
_LAST_MOMENT = 253_402_300_799_999_999  # the end of the year 9999


def check_draft(draft: KeyDraft, *, now: Micros) -> KeyDraft:
    """Return the draft with its lists in order, or refuse it.

    Raises:
        BadRequest, BadScope: a value cannot be taken; `field` says which.
    """
    _check_role(draft)
    _check_place(draft)
    _check_rest(draft, now=now)
    return replace(
        draft,
        groups=check_held(draft.groups, field="groups"),
        roles=check_held(draft.roles, field="roles"),
        default_acl=None if draft.default_acl is None else check_default_acl(draft.default_acl),
    )


def _check_role(draft: KeyDraft) -> None:
    if draft.role not in KEY_ROLES:
        names = ", ".join(role.value for role in KEY_ROLES)
        raise BadRequest(f"role must be one of {names}.", field="role")
    if draft.person is not None:
        check_person(draft.person, field="personal")
    if (draft.role is Role.PERSONAL) != (draft.person is not None):
        message = "role personal and a person in personal go together; give both or neither."
        raise BadRequest(message, field="role")


def _check_place(draft: KeyDraft) -> None:
    if draft.org is not None and draft.org != ANY_ORG:
        check_name(draft.org, field="org")
    if draft.team is None:
        return
    check_name(draft.team, field="team")
    if draft.org == ANY_ORG:
        raise BadRequest("team needs one org; give the team's org.", field="team")


def _check_rest(draft: KeyDraft, *, now: Micros) -> None:
    if draft.toolset not in _TOOLSETS:
        message = f"toolset must be one of {', '.join(_TOOLSETS)} in this version."
        raise BadRequest(message, field="toolset")
    if len(draft.label) > _LONGEST_LABEL or not draft.label.isprintable():
        message = f"label must be at most {_LONGEST_LABEL} visible characters."
        raise BadRequest(message, field="label")
    if draft.expires_at is not None and not now < draft.expires_at <= _LAST_MOMENT:
        raise BadRequest(
            "expires_at must be in the future, before 10000-01-01.", field="expires_at"
        )
