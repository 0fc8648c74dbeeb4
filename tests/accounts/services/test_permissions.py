"""May this caller do this in this scope?"""

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.domain.caller import Caller, local_caller
from accounts.domain.roles import Action, Role
from accounts.domain.scope import Scope
from accounts.services.permissions import require
from ampup_site.kernel.errors import AmpUpError
from tests.accounts.builders import a_caller, a_key, a_person, an_org

pytestmark = pytest.mark.django_db

ACME, OTHER, NOWHERE = (Scope.org_scope(name) for name in ("acme", "other", "nowhere"))
DEFAULT = Scope.org_scope("default")
SALES = Scope.team_scope(org="acme", team="sales")
SUPPORT = Scope.team_scope(org="acme", team="support")
MISSING = Scope.team_scope(org="acme", team="missing")
PRIYA, BOB = Scope.user_scope("priya"), Scope.user_scope("bob")


@pytest.fixture
def _orgs() -> None:
    an_org("acme", "sales", "support")
    an_org("other")


def refusal(caller: Caller, scope: Scope, action: Action = Action.READ) -> tuple[str, str]:
    with pytest.raises(AmpUpError) as refused:
        require(caller, action, scope)
    return refused.value.code, refused.value.message


@pytest.mark.usefixtures("_orgs")
@pytest.mark.parametrize(
    ("caller", "scope", "selects"),
    [
        (a_caller(), DEFAULT, 0),
        (a_caller(), ACME, 1),
        (a_caller(), SALES, 1),
        (a_caller(org="acme"), ACME, 0),
        (a_caller(org="acme"), SALES, 1),
        (a_caller(org="acme", team="sales"), SALES, 0),
        (a_person("priya"), PRIYA, 0),
        (local_caller(), OTHER, 1),
    ],
)
def test_a_caller_may_use_its_own_scopes(
    caller: Caller, scope: Scope, selects: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """Ours: yes costs one SELECT at most."""
    with django_assert_num_queries(selects):
        require(caller, Action.READ, scope)


@pytest.mark.usefixtures("_orgs")
@pytest.mark.parametrize(
    ("caller", "scope", "code"),
    [
        (a_caller(org="acme"), OTHER, "wrong_org"),
        (a_caller(org="acme"), DEFAULT, "wrong_org"),
        (a_caller(org="acme"), MISSING, "no_such_scope"),
        (a_caller(org="acme", team="sales"), SUPPORT, "forbidden"),
        (a_caller(org="acme", team="sales"), ACME, "forbidden"),
        (a_caller(org="acme", team="sales"), MISSING, "forbidden"),
        (a_caller(), NOWHERE, "no_such_scope"),
        (local_caller(), NOWHERE, "no_such_scope"),
        (local_caller(), Scope.user_scope("nobody"), "no_such_scope"),
        (a_person("priya"), BOB, "forbidden"),
        (a_caller(Role.ADMIN), PRIYA, "forbidden"),
        (a_caller(Role.SERVICE), PRIYA, "forbidden"),
        (a_caller(Role.INGEST), DEFAULT, "forbidden"),
    ],
)
def test_a_caller_may_not_use_what_is_not_its_own(caller: Caller, scope: Scope, code: str) -> None:
    """Documented: wrong_org, no_such_scope and forbidden, each where the specification says."""
    assert refusal(caller, scope)[0] == code


@pytest.mark.usefixtures("_orgs")
def test_a_bound_key_cannot_tell_another_org_from_none() -> None:
    """Documented: whether a foreign org, team or person exists is not told."""
    bound = a_caller(org="acme", team="sales")
    assert refusal(bound, OTHER) == refusal(bound, NOWHERE)
    assert refusal(bound, SUPPORT) == refusal(bound, MISSING)
    a_key(Role.PERSONAL, person="bob")
    priya = a_person("priya")
    assert refusal(priya, BOB) == refusal(priya, Scope.user_scope("nobody"))


def test_the_local_caller_may_use_a_persons_scope_once_there_is_the_person() -> None:
    """Documented: serve --local has all rights in every scope."""
    assert refusal(local_caller(), BOB)[0] == "no_such_scope"
    a_key(Role.PERSONAL, person="bob")
    require(local_caller(), Action.INGEST, BOB)
