"""What a route does not know is refused by name, on every route there is."""

from collections.abc import Mapping
from typing import Any, Final

import pytest
from pytest_django import Settings

from memory.engine import Engine
from tests.leaks.surfaces import filled, routes
from tests.memory.api.rest import EPISODE, NOTE, Rest

NAMES: Final = {"episode_id": "0" * 64, "job_id": "job_x", "name": "doc", "public_id": "AbCd1234"}
BODIES: Final[Mapping[str, Mapping[str, Any]]] = {
    "POST /remember": NOTE,
    "POST /episodes": {"episodes": [EPISODE]},
    "POST /search": {"query": "x"},
    "POST /query": {"find": "episodes"},
    "PUT /episodes/{episode_id}/acl": {"acl": ["*"], "expected": ["*"]},
    "POST /orgs": {"org": "fresh"},
    "POST /teams": {"team": "fresh"},
    "POST /keys": {"role": "reader"},
}
"""What each route takes; where nothing is named here it takes no field that it must have."""


@pytest.fixture
def local(engine: Engine, settings: Settings) -> Rest:
    """The owner of a local server."""
    settings.AMPUP_LOCAL = True
    return Rest()


def test_no_route_takes_a_parameter_that_it_does_not_know(local: Rest) -> None:
    """Regression: `/keys?team=x` listed the keys of all teams, as if it had not been asked."""
    for route in routes():
        method = route.partition(" ")[0]
        for name in ("zz", "at", "format", "%C3%A9"):
            path = f"{filled(route, **NAMES)}?{name}=1"
            response = local.send(method, path, json=BODIES.get(route, {}))
            assert response.status_code == 400, (route, name)
            if method != "HEAD":
                field = response.json()["error"]["field"]
                assert field == ("\u00e9" if name == "%C3%A9" else name), route


def test_no_route_takes_a_field_that_it_does_not_know(local: Rest) -> None:
    """Regression: a body of `DELETE /keys/{id}` was passed over."""
    for route in routes():
        method = route.partition(" ")[0]
        if method in {"GET", "HEAD"}:  # a body of theirs means nothing in HTTP itself
            continue
        body = {**BODIES.get(route, {}), "zz": 1}
        refusal = local.refusal(method, filled(route, **NAMES), body)
        code = "bad_query" if route == "POST /query" else "bad_request"
        assert refusal == (400, code, "zz"), route


def test_what_was_refused_for_its_parameters_has_changed_nothing(local: Rest) -> None:
    """Ours: the refusal comes before the deed."""
    assert local.refusal("POST", "/orgs?zz=1", {"org": "fresh"})[0] == 400
    assert local.call("POST", "/orgs", {"org": "fresh"})[0] == 201
    assert local.refusal("POST", "/keys?team=fresh", {"role": "reader"})[2] == "team"
    assert local.done("GET", "/keys")["results"] == []
