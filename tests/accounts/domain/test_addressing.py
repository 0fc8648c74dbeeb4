"""Which scope a request means."""

import pytest

from accounts.domain.addressing import resolve_scope
from accounts.domain.caller import Caller, local_caller
from accounts.domain.scope import Scope
from ampup_site.kernel.errors import AmpUpError
from tests.accounts.builders import a_caller, a_person

ACME = Scope.org_scope("acme")
SALES = Scope.team_scope(org="acme", team="sales")
ANYONE = local_caller()
BOUND = a_caller(org="acme")
IN_TEAM = a_caller(org="acme", team="sales")
PRIYA = a_person(org="acme")


@pytest.mark.parametrize(
    ("caller", "address", "scope"),
    [
        (ANYONE, {}, Scope.org_scope("default")),
        (BOUND, {}, ACME),
        (IN_TEAM, {}, SALES),
        (IN_TEAM, {"header_org": "acme"}, SALES),
        (ANYONE, {"header_org": "acme", "query_team": "sales"}, SALES),
        (ANYONE, {"query_org": "acme", "query_team": "sales"}, SALES),
        (ANYONE, {"header_org": "acme", "query_org": "acme"}, ACME),
        (ANYONE, {"query_team": "sales"}, Scope.team_scope(org="default", team="sales")),
        (BOUND, {"query_team": "sales"}, SALES),
        (ANYONE, {"query_scope": "team:acme/sales"}, SALES),
        (ANYONE, {"query_scope": "org"}, Scope.org_scope("default")),
        (BOUND, {"query_scope": "org"}, ACME),
        (BOUND, {"query_scope": "team:sales", "header_org": "acme"}, SALES),
        (ANYONE, {"query_scope": "user:priya"}, Scope.user_scope("priya")),
        (PRIYA, {"query_scope": "mine"}, Scope.user_scope("priya")),
        (PRIYA, {"query_scope": "mine", "header_org": "acme"}, Scope.user_scope("priya")),
    ],
)
def test_header_then_query_then_the_keys_own_then_the_default(
    caller: Caller, address: dict[str, str], scope: Scope
) -> None:
    """Documented: the precedence of the places that name a scope."""
    assert resolve_scope(caller, **address) == scope


@pytest.mark.parametrize(
    ("caller", "address", "code"),
    [
        (ANYONE, {"header_org": "acme", "query_org": "other"}, "scope_conflict"),
        (ANYONE, {"header_team": "sales", "query_team": "other"}, "scope_conflict"),
        (ANYONE, {"header_org": "acme", "query_scope": "org:other"}, "scope_conflict"),
        (ANYONE, {"query_team": "sales", "query_scope": "org"}, "scope_conflict"),
        (BOUND, {"header_org": "other"}, "wrong_org"),
        (BOUND, {"query_org": "other"}, "wrong_org"),
        (PRIYA, {"query_scope": "mine", "header_org": "other"}, "wrong_org"),
        (ANYONE, {"query_scope": "mine"}, "no_person"),
        (BOUND, {"query_scope": "mine"}, "no_person"),
        (ANYONE, {"header_org": ""}, "bad_scope"),
        (ANYONE, {"query_team": ""}, "bad_scope"),
        (ANYONE, {"query_org": "../x"}, "bad_scope"),
        (ANYONE, {"query_scope": "everything"}, "bad_scope"),
    ],
)
def test_a_scope_in_doubt_is_refused(caller: Caller, address: dict[str, str], code: str) -> None:
    """Documented: differing places, foreign orgs, nobody's `mine` and bad names are refused."""
    with pytest.raises(AmpUpError) as refused:
        resolve_scope(caller, **address)
    assert refused.value.code == code
