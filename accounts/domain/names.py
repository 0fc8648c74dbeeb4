"""The grammar of org, team and person names.

One grammar at every door keeps a name from ever being a path, a wildcard or a second spelling.
"""

import re
import unicodedata
from typing import Final

from accounts.domain.errors import BadScope

DEFAULT_ORG: Final = "default"
"""The org of a server that serves one; it always exists."""

WORKSPACE_PREFIX: Final = "ws_"
"""Orgs of workspaces are minted with this prefix; nobody names one so by hand."""

_LONGEST_NAME: Final = 63
_LONGEST_PERSON: Final = 200
_NAME = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")
_PERSON = re.compile(r"[^\s:,][^\s,]*")
_RESERVED_PERSONS: Final = frozenset({"local", "mine"})
_RESERVED_PERSON_PREFIXES: Final = ("service.", "key.")
_UNSHOWABLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def is_name(text: str) -> bool:
    """Tell whether `text` can name an org or a team: `[a-z0-9]+(_[a-z0-9]+)*`, 1 to 63 long.

    Source: specification, section 2.
    """
    return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None


def check_name(text: str, *, field: str) -> str:
    """Return `text` if it can name an org or a team.

    Raises:
        BadScope: it cannot; the message does not repeat the text.
    """
    if not is_name(text):
        message = (
            f"{field} must be lower-case letters, digits and single underscores between them, "
            f"at most {_LONGEST_NAME} characters."
        )
        raise BadScope(message, field=field)
    return text


def check_new_org(text: str) -> str:
    """Return `text` if an administrator may make an org of that name.

    Raises:
        BadScope: not a name, or one that only a workspace gets.
    """
    check_name(text, field="org")
    if text.startswith(WORKSPACE_PREFIX):
        message = f"org must not start with {WORKSPACE_PREFIX}, which workspaces are named by."
        raise BadScope(message, field="org")
    return text


def is_principal(text: str) -> bool:
    """Tell whether `text` can follow `user:`, `group:` or `role:` in an ACL entry.

    No blank, no comma, no colon in front, nothing invisible; 1 to 200 characters.

    Source: specification, section 3.
    """
    return (
        len(text) <= _LONGEST_PERSON
        and _PERSON.fullmatch(text) is not None
        and not any(unicodedata.category(letter) in _UNSHOWABLE for letter in text)
    )


def check_person(text: str, *, field: str) -> str:
    """Return `text` if it can be a person's user id.

    Ids that would read like another kind of author in a note's source are refused.

    Raises:
        BadScope: it cannot.
    """
    if not is_principal(text):
        message = (
            f"{field} must be a user id of 1 to {_LONGEST_PERSON} visible characters, "
            "without blanks and commas and not starting with a colon."
        )
        raise BadScope(message, field=field)
    if text in _RESERVED_PERSONS or text.startswith(_RESERVED_PERSON_PREFIXES):
        message = f"{field} must not be local or mine, nor start with service. or key."
        raise BadScope(message, field=field)
    return text
