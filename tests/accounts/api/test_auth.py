"""Which scope headers and query mean, for edges with Django and without."""

import pytest
from django.test import RequestFactory
from pytest_django import Settings

from accounts.api.auth import bearer_token, scope_from, scope_of
from accounts.domain.caller import local_caller
from accounts.domain.scope import Scope
from ampup_site.kernel.errors import AmpUpError
from tests.accounts.builders import a_person

SALES = Scope.team_scope(org="acme", team="sales")


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/x?org=acme&team=sales", {}),
        ("/x", {"x-memstore-org": "acme", "x-memstore-team": "sales"}),
        ("/x?team=sales", {"x-ampup-memory-org": "acme"}),
        ("/x?org=acme", {"x-ampup-memory-team": "sales", "x-memstore-team": "sales"}),
        ("/x?scope=team:acme/sales", {}),
    ],
)
def test_a_scope_is_named_by_header_or_url(path: str, headers: dict[str, str]) -> None:
    """Documented: either place names org and team, under the old header names and the new."""
    request = RequestFactory().get(path, headers=headers)
    assert scope_of(request, local_caller()) == SALES


def test_a_scope_is_found_without_django_too() -> None:
    """Ours: the MCP edge hands over plain mappings and gets the same answer."""
    headers = {"x-memstore-org": "acme"}
    assert scope_from(local_caller(), headers=headers, query={"team": ["sales"]}) == SALES
    with pytest.raises(AmpUpError) as refused:
        scope_from(local_caller(), headers=headers, query={"org": ["acme", "other"]})
    assert refused.value.code == "scope_conflict"


def test_mine_is_the_persons_own_and_nobody_elses() -> None:
    """Documented: ?scope=mine on any route; a caller that is no person gets no_person."""
    request = RequestFactory().get("/x?scope=mine")
    assert scope_of(request, a_person("priya")) == Scope.user_scope("priya")
    with pytest.raises(AmpUpError) as refused:
        scope_of(request, local_caller())
    assert refused.value.code == "no_person"


def test_the_default_org_is_the_servers(settings: Settings) -> None:
    """Ours: what a request without an org means is the operator's to say."""
    settings.AMPUP_DEFAULT_ORG = "house"
    assert scope_of(RequestFactory().get("/x"), local_caller()) == Scope.org_scope("house")


def test_a_bearer_token_is_read_whatever_the_case_of_its_scheme() -> None:
    """Ours: schemes are case-insensitive in HTTP."""
    assert bearer_token("bEaReR  msk_x") == "msk_x"
    assert bearer_token(None) is None
