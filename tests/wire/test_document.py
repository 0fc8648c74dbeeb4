"""The OpenAPI document is true: real answers of each operation are what it says."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import jsonschema  # type: ignore[import-untyped]  # it brings no types
import pytest
from pytest_django import Settings

import ampup_site.celery  # noqa: F401 -- the app whose broker is in memory, as `serve` has it
from accounts.domain.roles import Role
from memory.engine import Engine
from memory.services.loads import run_load
from tests.accounts.builders import a_key
from tests.memory.api.rest import EPISODE, NOTE, Rest

LATER: Final = 4_000_000_000_000_000
METHODS: Final = frozenset({"get", "post", "put", "delete"})


class Reader:
    """Asks, and holds each answer against the document."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.paths = document["paths"]
        self.seen: set[tuple[str, str, str]] = set()

    def ask(
        self, who: Rest, method: str, path: str, body: object = None, /, **names: str
    ) -> dict[str, Any]:
        place, _, query = path.partition("?")
        url = place.format(**names) + (f"?{query}" if query else "")
        status, answer = who.call(method, url, body)
        said = self.answers(place, method.lower())
        key = str(status) if str(status) in said else f"{status // 100}XX"
        jsonschema.validate(answer, said[key]["content"]["application/json"]["schema"])
        self.seen.add((place, method.lower(), key))
        return answer

    def answers(self, path: str, method: str) -> dict[str, Any]:
        responses: dict[str, Any] = self.paths[path][method]["responses"]
        return responses

    def promised(self) -> Iterator[tuple[str, str, str]]:
        """Yield every answer that is no refusal."""
        for path, operations in self.paths.items():
            for method in METHODS & set(operations):
                for status in self.answers(path, method):
                    if status.startswith("2"):
                        yield path, method, status


@pytest.fixture
def local(engine: Engine, settings: Settings, tmp_path: Path) -> Rest:
    """The owner of a local server, whose loads wait in a folder of the test."""
    settings.AMPUP_LOCAL = True
    settings.AMPUP_DATA_DIR = tmp_path
    return Rest()


@pytest.fixture
def reader(local: Rest) -> Reader:
    return Reader(local.done("GET", "/openapi.json"))


def test_every_operation_answers_as_the_document_says(
    reader: Reader, local: Rest, engine: Engine, tmp_path: Path
) -> None:
    """Regression: no answer had a schema; a field nobody documented fails this."""
    priya = Rest(a_key(Role.PERSONAL, person="priya").text)
    full = {**NOTE, "document": "d", "tags": ["a"], "about": ["account:acme"]}
    episodes = [EPISODE, {**EPISODE, "source": "gong:2", "meta": {"n": [1, None]}}]
    note = reader.ask(priya, "POST", "/remember", full)["episode_id"]
    reader.ask(local, "POST", "/remember", NOTE)
    stored = reader.ask(local, "POST", "/episodes", episodes)["episodes"]
    again = [{**EPISODE, "acl": ["group:sales"]}]
    assert reader.ask(local, "POST", "/episodes", again)["episodes"][0]["acl_unchanged"]
    _jobs(reader, local, engine, tmp_path)
    _reads(reader, local, priya, [note, *(one["episode_id"] for one in stored)])
    acl = {"acl": ["group:sales"], "expected": ["*"], "reason": "asked to"}
    path = "/episodes/{episode_id}"
    first = stored[0]["episode_id"]
    reader.ask(local, "PUT", f"{path}/acl", acl, episode_id=first)
    reader.ask(priya, "DELETE", path, episode_id=note)
    _accounts(reader, local)
    assert set(reader.promised()) <= reader.seen


def _accounts(reader: Reader, local: Rest) -> None:
    reader.ask(local, "POST", "/orgs", {"org": "acme"})
    reader.ask(local, "POST", "/teams", {"org": "acme", "team": "sales"})
    draft = {"role": "reader", "org": "acme", "default_acl": ["group:sales"], "expires_at": LATER}
    made = reader.ask(local, "POST", "/keys", draft)
    reader.ask(local, "GET", "/keys?org=acme&k=5")
    reader.ask(local, "DELETE", "/keys/{public_id}", public_id=made["id"])
    reader.ask(local, "POST", "/orgs", {"org": "acme"})


def _jobs(reader: Reader, local: Rest, engine: Engine, folder: Path) -> None:
    batch = {"episodes": [{**EPISODE, "body": ""}, EPISODE], "background": True}
    job = reader.ask(local, "POST", "/episodes", batch)["job"]
    reader.ask(local, "GET", "/jobs/{job_id}", job_id=job)
    run_load(engine, job, spool=folder / "spool")
    assert reader.ask(local, "GET", "/jobs/{job_id}", job_id=job)["refused"]
    lost = reader.ask(local, "POST", "/episodes", batch)["job"]
    (folder / "spool" / f"{lost}.jsonl").unlink()
    run_load(engine, lost, spool=folder / "spool")
    assert reader.ask(local, "GET", "/jobs/{job_id}", job_id=lost)["error"]


def _reads(reader: Reader, local: Rest, priya: Rest, ids: list[str]) -> None:
    for who in (local, priya):
        for identity in ids:
            reader.ask(who, "GET", "/episodes/{episode_id}?units=1", episode_id=identity)
        for form in ("json", "text"):
            reader.ask(who, "POST", "/search", {"query": "renewal", "format": form})
        found = reader.ask(who, "POST", "/query", {"find": "passages", "text": "renewal"})
        assert {"document"} < set().union(*found["results"])
        assert reader.ask(who, "POST", "/query", {"find": "episodes", "k": 1})["next_cursor"]
        reader.ask(who, "GET", "/whoami")
        reader.ask(who, "GET", "/index/status")
        reader.ask(who, "GET", "/episode-types")
        for name in ("doc", "gong"):
            reader.ask(who, "GET", "/episode-types/{name}", name=name)


def test_refusals_are_as_the_document_says(reader: Reader, local: Rest) -> None:
    """Ours: one envelope."""
    reader.ask(local, "POST", "/search", {"query": 7})
    reader.ask(local, "POST", "/query", {"find": "facts"})
    reader.ask(local, "GET", "/episodes/{episode_id}", episode_id="0" * 64)
    reader.ask(Rest("msk_wrong"), "GET", "/whoami")


def test_the_schemas_are_schemas(reader: Reader) -> None:
    """Ours: what a generator of clients reads is well formed, and no object is open by mistake."""
    for path, method, status in reader.promised():
        content = reader.answers(path, method)[status]["content"]["application/json"]
        jsonschema.Draft202012Validator.check_schema(content["schema"])
        kinds = content["schema"].get("oneOf", [content["schema"]])
        assert all(kind["additionalProperties"] is False for kind in kinds), path
