"""REST on the wire: methods, slashes, envelopes, limits, and what no client library shows."""

import errno
import logging
import re

import psycopg
import pytest
from django.db import OperationalError
from django.urls import get_resolver
from pytest_django import Settings

from accounts.domain.roles import Role
from ampup_site import http_errors, urls
from ampup_site.kernel.errors import AmpUpError, ErrorKind
from memory.engine import Engine
from tests.accounts.builders import a_key, an_org
from tests.accounts.domain.test_scope import HOSTILE
from tests.memory.api.rest import NOTE, Rest

WRITES = ("/remember", "/episodes", "/search", "/query")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
ID = "0" * 64
OFFERED = {
    "/healthz": {"GET", "HEAD"},
    "/readyz": {"GET", "HEAD"},
    "/openapi.json": {"GET"},
    "/whoami": {"GET"},
    "/remember": {"POST"},
    "/episodes": {"POST"},
    f"/episodes/{ID}": {"GET", "DELETE"},
    f"/episodes/{ID}/acl": {"PUT"},
    "/search": {"POST"},
    "/query": {"POST"},
    "/index/status": {"GET"},
    "/jobs/job_x": {"GET"},
    "/episode-types": {"GET"},
    "/episode-types/doc": {"GET"},
    "/orgs": {"POST"},
    "/teams": {"POST"},
    "/keys": {"GET", "POST"},
    "/keys/AbCd1234": {"DELETE"},
}


@pytest.fixture
def local(engine: Engine, settings: Settings) -> Rest:
    """The owner of a local server."""
    settings.AMPUP_LOCAL = True
    return Rest()


def test_methods_that_a_route_does_not_offer_are_405_with_and_without_a_slash(
    local: Rest,
) -> None:
    """Regression: never a redirect, always JSON, and Allow says what is offered (case 61)."""
    for spelled in (*OFFERED, *(f"{path}/" for path in OFFERED)):
        path = spelled.rstrip("/")
        for method in METHODS:
            response = local.send(method, spelled, content=b"")
            assert not response.is_redirect, (method, spelled)
            if method in OFFERED[path]:
                assert response.status_code != 405
                continue
            assert response.status_code == 405, (method, spelled)
            assert set(response.headers["allow"].split(", ")) - {"OPTIONS"} == OFFERED[path]
            if method != "HEAD":
                assert response.json()["error"]["code"] == "method_not_allowed"


def test_every_route_is_in_the_sweep_above() -> None:
    """Ours: a new route cannot be left out of it."""
    routes = {str(p.pattern) for p in urls.urlpatterns[:3]}
    routes |= {str(p.pattern) for p in urls.urlpatterns[3].url_patterns}  # type: ignore[union-attr]
    named = {r.split("/?")[0].lstrip("^").split("/(")[0].replace("\\", "") for r in routes}
    for pattern in urls.urlpatterns[4].url_patterns:  # type: ignore[union-attr]
        named.add(str(pattern.pattern).strip("/").split("/<")[0])
    assert named - {""} == {path.strip("/").split("/")[0] for path in OFFERED} - {"index"} | {
        "index/status"
    }
    assert get_resolver().urlconf_name == "ampup_site.urls"


NOWHERE = ("/", "/nope", "/.well-known/oauth-protected-resource", "/docs", "/admin", "/%00")


def test_what_is_no_route_is_a_404_in_json(local: Rest) -> None:
    """Documented: with keys only the sign-in documents are not there, so clients do not loop."""
    for path in NOWHERE:
        assert local.refusal("GET", path) == (404, "not_found", None), path


NO_BODIES = (
    b"[" * 20_000,
    b'{"a":' * 20_000,
    b"{",
    b"",
    b"nonsense",
    b"\xff\xfe{}",
    '{"source": "x"}'.encode("utf-16"),
    b'\xef\xbb\xbf{"source": "x"}',
    b'{"k": NaN}',
    b'{"k": 1' + b"0" * 5_000 + b"}",
    b'{"body": "a", "body": "b"}',
    b'"text"',
    b"null",
    b"7",
    b'{"\\ud800": 1}',
    b'{"body": "\\ud800"}',
    b'{"body": "a\\u0000b"}',
    b'{"meta": ' + b"[" * 900 + b'"\\u0041"' + b"]" * 900 + b"}",
    b"[" * 900 + b"]" * 900,
    b'{"body": "a\x00b"}',
)


def test_a_body_that_is_no_json_of_ours_is_refused(local: Rest) -> None:
    """Regression: never a 500, never a hang (cases 1, 9, 19)."""
    for path in WRITES:
        for body in NO_BODIES:
            status, code, _ = local.refusal("POST", path, body)
            assert status in (400, 422), (path, body[:40])
            assert code in ("bad_request", "validation", "bad_query")


def test_only_uncompressed_json_is_read(local: Rest) -> None:
    """Ours: forms that a browser would post across sites are no request (case 20)."""
    for kind in ("multipart/form-data; boundary=x", "text/plain", "application/xml", ""):
        response = local.send("POST", "/remember", content=b"{}", headers={"content-type": kind})
        assert (response.status_code, response.json()["error"]["field"]) == (400, "content-type")
    headers = {"content-encoding": "gzip"}
    assert local.refusal("POST", "/remember", NOTE, **headers)[2] == "content-encoding"
    charset = {"content-type": "application/json; charset=utf-8"}
    assert local.send("POST", "/remember", json=NOTE, headers=charset).status_code == 200


def test_a_body_over_the_limit_is_413_and_one_at_the_limit_is_read(
    local: Rest, settings: Settings
) -> None:
    """Regression: one documented limit, checked before parsing and while reading (case 20)."""
    settings.AMPUP_MAX_BODY_BYTES = settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 3_000_000
    large = b'{"source": "x", "body": "%s"}'
    full = large % (b"a" * (3_000_000 - len(large) + 2))
    assert len(full) == 3_000_000
    assert local.refusal("POST", "/remember", full)[:2] == (413, "too_large")  # body > 2 MiB
    assert local.refusal("POST", "/remember", full)[2] == "body"
    assert local.refusal("POST", "/remember", full + b" ") == (413, "too_large", None)


def test_a_parameter_that_a_route_does_not_know_is_refused_by_name(local: Rest) -> None:
    """Ours: silence would look like obedience; what comes later is said so."""
    for name in ("at", "branch", "as_of", "k", "x", "\u00e9", "%00"):
        for method, path, body in (("GET", "/whoami", None), ("POST", "/remember", NOTE)):
            refusal = local.refusal(method, f"{path}?{name}=1", body)
            assert refusal[:2] == (400, "bad_request"), name


def test_nobody_is_told_anything(engine: Engine) -> None:
    """Documented: without a key every route is 401 with a plain Bearer challenge."""
    del engine
    for path, methods in OFFERED.items():
        if path in ("/healthz", "/readyz", "/openapi.json"):
            continue
        for method in methods:
            response = Rest().send(method, path, json={})
            assert response.status_code == 401, (method, path)
            assert response.headers["www-authenticate"] == 'Bearer realm="ampup-memory"'
            assert response.headers["cache-control"] == "no-store"


def test_another_orgs_key_is_a_stranger(engine: Engine) -> None:
    """Documented: wrong_org whether the org exists or not; headers and URL name the scope."""
    an_org("acme")
    an_org("other", "sales")
    acme = Rest(a_key(Role.SERVICE, org="acme").text)
    kept = acme.remember()
    assert acme.done("GET", f"/episodes/{kept}?org=acme")["episode_id"] == kept
    assert acme.refusal("GET", f"/episodes/{kept}?org=other") == (403, "wrong_org", "org")
    assert acme.refusal("POST", "/search?org=nowhere", {"query": "x"})[1] == "wrong_org"
    both = {"x-memstore-org": "other"}
    assert acme.refusal("POST", "/search?org=acme", {"query": "x"}, **both)[1] == "scope_conflict"
    stranger = Rest(a_key(Role.ADMIN, org="other").text)
    assert stranger.refusal("GET", f"/episodes/{kept}")[:2] == (404, "not_found")
    anyone = Rest(a_key(Role.SERVICE).text, {"x-ampup-memory-org": "other"})
    assert anyone.passages("renewal") == []
    assert anyone.refusal("GET", "/index/status?team=none")[:2] == (404, "no_such_scope")
    assert anyone.refusal("GET", "/whoami?scope=mine")[:2] == (403, "no_person")
    free = Rest(a_key(Role.SERVICE).text)
    for name in HOSTILE:
        for place in ("org", "team", "scope"):
            response = free.send("GET", "/whoami", params={place: name})
            assert (response.status_code, response.json()["error"]["code"]) == (400, "bad_scope")


def test_a_fault_of_ours_says_the_request_id_and_nothing_else(
    local: Rest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: the log has the traceback, neither has bodies or keys."""

    def fail(*_: object) -> None:
        message = "the inside of the server"
        raise ZeroDivisionError(message)

    monkeypatch.setattr("memory.api.search.find_passages", fail)
    canary = {"query": "canary words"}
    with caplog.at_level(logging.ERROR):
        transport = local.send("POST", "/search", json=canary, headers={"x-request-id": "req-7"})
    assert transport.status_code == 500
    error = transport.json()["error"]
    assert set(error) == {"code", "message"}
    assert "req-7" in error["message"]
    assert "inside" not in transport.text
    assert transport.headers["x-request-id"] == "req-7"
    assert "ZeroDivisionError" in caplog.text
    assert "canary" not in caplog.text


def test_a_request_is_logged_in_one_line(
    local: Rest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Regression: what was refused had a second line of the framework's."""

    def away(*_: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr("memory.api.search.find_passages", away)
    crowd = "&".join(f"p{n}=1" for n in range(1_001))
    for method, path, body, status in (
        ("GET", "/whoami", None, 200),
        ("GET", "/nope", None, 404),
        ("GET", "/healthz?zz=1", None, 400),
        ("GET", f"/healthz?{crowd}", None, 400),
        ("GET", f"/keys?{crowd}", None, 400),
        ("POST", "/remember", {}, 422),
        ("POST", "/orgs", {}, 422),
        ("PUT", "/orgs", {}, 405),
        ("PUT", "/search", {}, 405),
        ("POST", "/search", {"query": "x"}, 503),
    ):
        caplog.clear()
        with caplog.at_level(logging.INFO):
            assert local.call(method, path, body)[0] == status, path
        lines = [record.getMessage() for record in caplog.records if record.name != "httpx"]
        assert len(lines) == 1, lines
        assert f"{method} {path.partition('?')[0]} {status}" in lines[0]


def test_a_database_or_disk_that_is_away_is_503_with_retry_after(
    local: Rest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the outage is no fault, its inside is not told, and it is over by itself."""
    outages = (
        OperationalError("connection refused at secret-host"),
        psycopg.OperationalError("connection refused at secret-host"),
        OSError(errno.ENOSPC, "No space left on secret-host"),
        OSError(errno.EROFS, "Read-only file system secret-host"),
    )
    for outage in outages:

        def away(*_: object, outage: Exception = outage) -> None:
            raise outage

        monkeypatch.setattr("memory.api.search.find_passages", away)
        response = local.send("POST", "/search", json={"query": "x"})
        assert (response.status_code, response.headers["retry-after"]) == (503, "5")
        assert response.json()["error"]["code"] == "unavailable"
        assert "secret-host" not in response.text
    monkeypatch.undo()


def test_too_many_parameters_are_named_as_the_fault(local: Rest) -> None:
    """Regression: the answer spoke of the Host header."""
    crowd = "&".join(f"p{n}=1" for n in range(1_001))
    for path in ("/whoami", "/keys", "/healthz"):
        status, answer = local.call("GET", f"{path}?{crowd}")
        assert (status, answer["error"]["code"]) == (400, "bad_request"), path
        assert "too many parameters" in answer["error"]["message"], path


def test_every_kind_of_error_has_a_status() -> None:
    """Ours: the map is total, and 401 and 503 carry what belongs to them."""
    assert set(http_errors.STATUSES) == set(ErrorKind)
    assert len(set(http_errors.STATUSES.values())) == len(ErrorKind)
    for kind in ErrorKind:
        refused = type("Refused", (AmpUpError,), {"kind": kind, "code": "x"})
        body = http_errors.envelope(refused("Say it.", field="f", detail={"a": 1}))
        assert body == {
            "error": {"code": "x", "message": "Say it.", "field": "f", "detail": {"a": 1}}
        }


def test_a_foreign_host_is_refused(local: Rest) -> None:
    """Regression: the guard against DNS rebinding."""
    response = local.send("GET", "/whoami", headers={"host": "evil.example"})
    assert response.status_code == 421
    assert response.json()["error"]["code"] == "bad_host"


def test_the_document_names_every_route_and_its_body(local: Rest) -> None:
    """Ours: /openapi.json is made from the shapes that read the bodies."""
    document = local.done("GET", "/openapi.json")
    documented = {
        re.compile(re.sub(r"\{[^}]+\}", "[^/]+", path)): {method.upper() for method in operations}
        for path, operations in document["paths"].items()
    }
    for path, methods in OFFERED.items():
        if path not in {"/healthz", "/readyz", "/openapi.json"}:
            [said] = [named for form, named in documented.items() if form.fullmatch(path)]
            assert said == methods, path
    body = document["paths"]["/episodes"]["post"]["requestBody"]["content"]["application/json"]
    item = body["schema"]["properties"]["episodes"]["items"]
    assert item["required"] == ["source", "body", "occurred_at"]
    assert item["additionalProperties"] is False
    parameters = document["paths"]["/episodes/{episode_id}"]["get"]["parameters"]
    assert {p["name"] for p in parameters} == {"episode_id", "units", "org", "team", "scope"}
    assert "$ref" not in str(document["paths"])
    assert document["security"] == [{"bearer": []}]
