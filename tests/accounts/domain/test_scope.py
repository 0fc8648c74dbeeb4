"""Names, spellings and namespaces of scopes."""

import hashlib
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.domain.errors import BadScope
from accounts.domain.names import is_name
from accounts.domain.scope import Scope, parse_scope

NAMES = st.from_regex(r"\A[a-z0-9]{1,6}(_[a-z0-9]{1,6}){0,3}\Z")
HOSTILE = (
    "../x",
    "a/../../b",
    "..",
    ".",
    "C:\\x",
    "%2e%2e%2f",
    "a" * 64,
    "a\x00b",
    "acme\n",
    "Acme",
    "a__b",
    "_a",
    "a_",
    "a b",
    "",
    "acmé",
    "\u0430cme",
    "a-b",
    "*",
    "٣",
)


@pytest.mark.parametrize(
    ("text", "namespace", "spelling"),
    [
        ("org", "org_default", "org:default"),
        ("org:acme", "org_acme", "org:acme"),
        ("team:sales", "team_default__sales", "team:default/sales"),
        ("team:acme/sales", "team_acme__sales", "team:acme/sales"),
        (
            "user:priya",
            "user_" + hashlib.sha256(b"priya").hexdigest()[:32],
            "user:priya",
        ),
    ],
)
def test_each_documented_spelling_names_its_namespace(
    text: str, namespace: str, spelling: str
) -> None:
    """Documented: five spellings on the command line, each scope a namespace of its own."""
    scope = parse_scope(text, default_org="default")
    assert (scope.namespace, scope.spelling) == (namespace, spelling)


@given(org=NAMES, team=NAMES, user=st.text(min_size=1, max_size=20))
def test_a_spelling_reads_back_and_a_namespace_is_safe(org: str, team: str, user: str) -> None:
    """Ours: spelling and parsing agree; no namespace holds anything but letters of names."""
    scopes = [Scope.org_scope(org), Scope.team_scope(org=org, team=team)]
    with suppress(BadScope):
        scopes.append(Scope.user_scope(user))
    for scope in scopes:
        assert parse_scope(scope.spelling, default_org="elsewhere") == scope
        assert re.fullmatch(r"[a-z0-9_]+", scope.namespace)


@given(one=st.tuples(NAMES, NAMES), other=st.tuples(NAMES, NAMES))
def test_different_teams_never_share_a_namespace(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    """Ours: the double underscore parts org and team without doubt."""
    first = Scope.team_scope(org=one[0], team=one[1])
    second = Scope.team_scope(org=other[0], team=other[1])
    assert (first == second) == (first.namespace == second.namespace)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_no_org_no_team_and_no_scope(name: str) -> None:
    """Regression: path-like, long, foreign or invisible names never become a scope (case 14)."""
    assert not is_name(name)
    for text in (f"org:{name}", f"team:{name}/sales", f"team:acme/{name}"):
        with pytest.raises(BadScope) as refused:
            parse_scope(text, default_org="default")
        assert refused.value.code == "bad_scope"


@pytest.mark.parametrize(
    "text",
    [
        *("", "mine", "org ", " org", "orgs", "Org:acme", "team", "team:", "team:a/b/c"),
        *("user", "user:", "user:a b", "user:a,b", "user:\u202epriya"),
        *("user:local", "user:service.AbCd1234"),
    ],
)
def test_a_spelling_outside_the_five_is_refused(text: str) -> None:
    """Documented: anything else is bad_scope, authors' own spellings as user ids included."""
    with pytest.raises(BadScope):
        parse_scope(text, default_org="default")
