"""REST for orgs, teams and keys."""

import json
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.domain.roles import Role
from accounts.models import ApiKey, Org, Team
from tests.accounts.builders import a_key, an_org, signed_in
from tests.accounts.domain.test_scope import HOSTILE

pytestmark = [pytest.mark.django_db, pytest.mark.urls("accounts.api.urls")]


class Rest:
    """One caller's JSON conversation."""

    def __init__(self, key: str | None) -> None:
        self.client = Client(raise_request_exception=False)
        self.headers = {} if key is None else {"authorization": f"Bearer {key}"}

    def call(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> tuple[int, dict[str, Any]]:
        content = body if isinstance(body, str | bytes) else json.dumps(body)
        response = self.client.generic(
            method, path, content, "application/json", headers={**self.headers, **headers}
        )
        return response.status_code, json.loads(response.content)

    def refusal(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        status, answer = self.call(method, path, body, **headers)
        error = answer["error"]
        return status, error["code"], error.get("field")


@pytest.fixture
def acme() -> Rest:
    """Org acme's administrator; org other is there too."""
    an_org("acme", "sales")
    an_org("other", "sales")
    return Rest(a_key(Role.ADMIN, org="acme").text)


@pytest.fixture
def root() -> Rest:
    """An administrator bound to no org."""
    return Rest(a_key(Role.ADMIN).text)


def test_an_administrator_makes_an_org_a_team_and_a_key_and_revokes_it(root: Rest) -> None:
    """Documented: POST /orgs, POST /teams, POST|GET /keys, DELETE /keys/{id}."""
    status, org = root.call("POST", "/orgs", {"org": "fresh"})
    assert (status, org["org"]) == (201, "fresh")
    status, team = root.call("POST", "/teams", {"org": "fresh", "team": "sales"})
    assert (status, team["org"], team["team"]) == (201, "fresh", "sales")
    wanted = {"role": "ingest", "org": "fresh", "team": "sales", "default_acl": ["group:b", "*"]}
    status, made = root.call("POST", "/keys", {**wanted, "label": "nightly"})
    assert status == 201
    text = made.pop("key")
    assert made == {**made, **wanted, "default_acl": ["*"], "label": "nightly", "personal": None}
    _, listed = root.call("GET", "/keys?k=1")
    assert (listed["results"], bool(listed["next_cursor"])) == ([made], True)
    assert text not in json.dumps(listed)
    status, gone = root.call("DELETE", f"/keys/{made['id']}")
    assert (status, gone["revoked_at"] is not None) == (200, True)
    assert Rest(text).refusal("GET", "/keys") == (401, "unauthenticated", "authorization")


def test_the_owner_of_a_local_server_needs_no_key(settings: Settings) -> None:
    """Documented: serve --local administers without a key; other servers ask for one."""
    nobody = Rest(None)
    assert nobody.refusal("GET", "/keys")[:2] == (401, "unauthenticated")
    settings.AMPUP_LOCAL = True
    assert nobody.call("GET", "/keys")[0] == 200
    assert Rest("msk_wrong").refusal("GET", "/keys")[:2] == (401, "unauthenticated")


@pytest.mark.parametrize("value", ["Basic eDp5", "Bearer", "Bearer  ", "Bearer a b", "msk_x", ""])
def test_an_authorization_that_is_no_bearer_key_is_refused(value: str, settings: Settings) -> None:
    """Ours: what was sent as a credential is never passed over."""
    settings.AMPUP_LOCAL = True
    answer = Rest(None).refusal("GET", "/keys", authorization=value)
    assert answer[:2] == (401, "unauthenticated")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/orgs", {"org": "fresh"}),
        ("POST", "/teams", {"team": "fresh"}),
        ("POST", "/keys", {"role": "reader"}),
        ("GET", "/keys", None),
        ("DELETE", "/keys/AbCd1234", None),
    ],
)
@pytest.mark.parametrize("role", [Role.READER, Role.INGEST, Role.RECORDER, Role.SERVICE])
def test_a_caller_who_administers_nothing_is_refused(
    role: Role, method: str, path: str, body: object
) -> None:
    """Documented: the rights table, over REST; the unauthenticated are refused first."""
    assert Rest(a_key(role).text).refusal(method, path, body)[:2] == (403, "forbidden")
    assert Rest(None).refusal(method, path, body)[:2] == (401, "unauthenticated")


def test_one_orgs_administrator_is_a_stranger_to_another_org(acme: Rest) -> None:
    """Documented: wrong_org for another org, whether it exists or not; its keys are not there."""
    foreign = a_key(org="other")
    for org in ("other", "nowhere"):
        answer = (403, "wrong_org", "org")
        assert acme.refusal("POST", "/keys", {"role": "reader", "org": org}) == answer
        assert acme.refusal("POST", "/teams", {"team": "fresh", "org": org}) == answer
    missing = acme.call("DELETE", "/keys/zzzzzzzz")
    assert acme.call("DELETE", f"/keys/{foreign.record.public_id}") == missing
    assert missing[0] == 404
    assert [key["org"] for key in acme.call("GET", "/keys")[1]["results"]] == ["acme"]
    assert acme.refusal("POST", "/orgs", {"org": "fresh"})[:2] == (403, "forbidden")
    assert signed_in(foreign).org == "other"


def test_the_org_may_stand_in_the_header_or_the_url(root: Rest, acme: Rest) -> None:
    """Documented: x-memstore-org, its alias and ?org= name the org on REST routes."""
    header = {"x-memstore-org": "acme"}
    alias = {"x-ampup-memory-org": "acme"}
    assert root.call("POST", "/teams", {"team": "one"}, **header)[1]["org"] == "acme"
    assert root.call("POST", "/keys", {"role": "reader"}, **alias)[1]["org"] == "acme"
    assert root.call("POST", "/teams?org=acme", {"team": "two"})[1]["org"] == "acme"
    for path, extra in (
        ("/teams?org=other", header),
        ("/teams?org=acme&org=other", {}),
        ("/teams", {**header, "x-ampup-memory-org": "other"}),
    ):
        answer = root.refusal("POST", path, {"team": "three"}, **extra)
        assert answer == (400, "scope_conflict", "org")
    in_body = {"team": "three", "org": "other"}
    assert root.refusal("POST", "/teams", in_body, **header)[1] == "scope_conflict"
    assert acme.refusal("POST", "/teams?org=other", {"team": "three"})[1] == "wrong_org"
    assert acme.refusal("GET", "/keys?org=other")[1] == "wrong_org"
    assert acme.refusal("DELETE", "/keys/AbCd1234", **{"x-memstore-org": "other"})[1] == "wrong_org"
    _, listed = root.call("GET", "/keys", **header)
    assert {key["org"] for key in listed["results"]} == {"acme"}


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        ({"role": "reader", "rolle": "x"}, 400, "bad_request", "rolle"),
        ({"role": "local"}, 422, "validation", "role"),
        ({"role": "reader", "expires_at": True}, 422, "validation", "expires_at"),
        ({"role": "reader", "expires_at": "soon"}, 422, "validation", "expires_at"),
        ({"role": "reader", "groups": "west"}, 422, "validation", "groups"),
        ({"role": "reader", "groups": [1]}, 422, "validation", "groups.0"),
        ({"role": "reader", "label": 7}, 422, "validation", "label"),
        ({"role": "reader", "label": "\x00"}, 400, "bad_request", "label"),
        ({"role": "reader", "label": "\ud800"}, 400, "bad_request", None),
        ({"\ud800": 1}, 400, "bad_request", None),
        ({"role": "reader", "expires_at": 10**30}, 400, "bad_request", "expires_at"),
        ({"role": "reader", "personal": "priya"}, 400, "bad_request", "role"),
        ({}, 400, "bad_request", "role"),
        ('{"role": "reader", "role": "admin"}', 400, "bad_request", None),
        ("[]", 400, "bad_request", None),
        ("{", 400, "bad_request", None),
        ("nonsense", 400, "bad_request", None),
        (b"\xff\xfe", 400, "bad_request", None),
        ("[" * 50_000, 400, "bad_request", None),
        ('{"role": NaN}', 422, "validation", "role"),
        (" " * 70_000, 413, "too_large", None),
    ],
)
def test_a_body_that_is_not_its_shape_is_refused_by_name(
    root: Rest, body: object, status: int, code: str, field: str | None
) -> None:
    """Ours: closed shapes and strict types; nothing is stored."""
    before = ApiKey.objects.count()
    assert root.refusal("POST", "/keys", body) == (status, code, field)
    assert ApiKey.objects.count() == before


def test_only_json_is_read(root: Rest) -> None:
    """Ours: a form that a browser would post across sites is no request."""
    form = root.client.post("/orgs", {"org": "fresh"}, headers=root.headers)
    assert (form.status_code, form.json()["error"]["field"]) == (400, "content-type")


@pytest.mark.parametrize("query", ["k=0", "k=201", "k=x", "k=1&k=2", "k=%D9%A3", "cursor=../x"])
def test_a_page_out_of_range_is_refused(root: Rest, query: str) -> None:
    """Ours: k is 1 to 200, a cursor comes from the page before."""
    assert root.refusal("GET", f"/keys?{query}")[1] in ("bad_request", "not_found")


def test_a_trailing_slash_answers_directly_and_other_methods_do_not(root: Rest) -> None:
    """Ours: no redirect ever; a method that is not offered is 405."""
    assert root.call("POST", "/orgs/", {"org": "fresh"})[0] == 201
    assert root.call("GET", "/keys/")[0] == 200
    for method, path in (
        ("GET", "/orgs"),
        ("PUT", "/keys"),
        ("OPTIONS", "/keys"),
        ("HEAD", "/keys"),
        ("POST", "/keys/AbCd1234"),
        ("DELETE", "/keys"),
    ):
        response = root.client.generic(method, path, headers=root.headers)
        assert (method, path, response.status_code) == (method, path, 405)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_refused_over_rest(root: Rest, name: str) -> None:
    """Regression: body, header and URL refuse what the grammar refuses (case 14)."""
    an_org("acme")
    before = (Org.objects.count(), Team.objects.count())
    assert root.refusal("POST", "/orgs", {"org": name}) == (400, "bad_scope", "org")
    team = {"org": "acme", "team": name}
    assert root.refusal("POST", "/teams", team) == (400, "bad_scope", "team")
    org = {"org": name, "team": "sales"}
    assert root.refusal("POST", "/teams", org)[1] == "bad_scope"
    assert (Org.objects.count(), Team.objects.count()) == before
