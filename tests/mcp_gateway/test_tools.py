"""The three tools on real stores, over the wire, each with one who must not see."""

import asyncio
import json
from typing import Any

import pytest
from pytest_django import Settings

from accounts.domain.caller import Caller, local_caller
from accounts.domain.roles import Role
from accounts.domain.scope import Scope
from accounts.services import keys
from memory.engine import Engine
from memory.services.episodes import ingest
from tests.accounts.builders import FixedClock, a_key, an_org
from tests.builders import episode
from tests.mcp_gateway.wire import Wire, an_app

MIXED = "naïve 漢字 👩‍👩‍👧 e\u0301 Straße — “quoted”"


@pytest.fixture
def acme(engine: Engine) -> dict[str, Wire]:
    """Callers of org acme and one of another org, by what they are."""
    an_org("acme")
    an_org("other")
    app = an_app(max_body=3 * 2**20)
    return {
        "service": Wire(app, a_key(Role.SERVICE, org="acme").text),
        "reader": Wire(app, a_key(Role.READER, org="acme").text),
        "sales": Wire(app, a_key(Role.READER, org="acme", groups=("sales",)).text),
        "ingest": Wire(app, a_key(Role.INGEST, org="acme").text),
        "stranger": Wire(app, a_key(Role.SERVICE, org="other").text),
    }


def _values(result: Any) -> Any:
    assert result["isError"] is False, result
    return result["structuredContent"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_what_is_remembered_is_found_and_opened_at_once(acme: dict[str, Wire], era: str) -> None:
    """Documented: remember, search, open; every route gives the identical text (case 5)."""
    service = acme["service"]
    note = {"text": f"OPS-1181 is owned by Priya. {MIXED}", "source": "acme", "tags": ["ops"]}
    stored = _values(service.call("remember_memory", note, era=era))
    assert stored["created"] is True
    again = _values(service.call("remember_memory", note))
    assert again == {**stored, "created": False}
    found = service.call("search_memory", {"query": "who owns OPS-1181?"}, era=era)
    (passage,) = _values(found)["passages"]
    assert passage["text"] == note["text"]
    text = found["content"][0]["text"]
    assert f'- [e1 p1] "{note["text"]}"' in text
    assert text.rstrip().splitlines()[-1].startswith(f"e1 = {stored['episode_id']}")
    opened = service.call("get_episode", {"episode_id": stored["episode_id"]}, era=era)
    assert _values(opened)["units"] == [{"n": 1, "label": "p1", "text": note["text"]}]
    assert f"[p1] {note['text']}" in opened["content"][0]["text"]
    assert _values(opened)["episode"]["source"] == stored["source"]


def test_who_may_not_read_it_finds_nothing_and_is_told_nothing(
    acme: dict[str, Wire], engine: Engine
) -> None:
    """Documented: hidden, foreign and missing are one answer, byte for byte."""
    secret = episode("Priya: the zanzibar deal is signed.", source="gong:1", acl=("group:sales",))
    writer = Caller(author="service:svc00001", role=Role.SERVICE, org="acme", key_id="svc00001")

    landed = ingest(engine, writer, Scope.org_scope("acme"), [secret]).wait()
    id_ = landed.episodes[0].episode_id
    assert len(_values(acme["sales"].call("search_memory", {"query": "zanzibar"}))["passages"]) == 1
    assert "zanzibar" in str(acme["sales"].call("get_episode", {"episode_id": id_}))
    for name in ("reader", "stranger"):
        wire = acme[name]
        assert "signed" not in str(wire.call("search_memory", {"query": "zanzibar"}))
        hidden = wire.call("get_episode", {"episode_id": id_})
        missing = wire.call("get_episode", {"episode_id": "0" * 64})
        assert hidden == missing
        assert hidden["structuredContent"]["error"]["code"] == "not_found"
    aside = acme["stranger"].at("/mcp?org=acme").call("search_memory", {"query": "zanzibar"})
    assert aside["structuredContent"]["error"]["code"] == "wrong_org"


def test_an_episode_is_read_by_ranges_and_within_its_room(
    acme: dict[str, Wire], engine: Engine
) -> None:
    """Documented: units "3-7" and max_chars; whole units, and how to get the rest."""
    turns = "\n".join(f"Speaker {n}: turn {n} says " + "word " * 40 for n in range(1, 21))
    service = acme["service"]
    writer = Caller(author="service:svc00001", role=Role.SERVICE, org="acme", key_id="svc00001")

    landed = ingest(engine, writer, Scope.org_scope("acme"), [episode(turns, source="gong:2")])
    id_ = landed.wait().episodes[0].episode_id
    part = _values(service.call("get_episode", {"episode_id": id_, "units": "t3-t7"}))
    assert [unit["label"] for unit in part["units"]] == ["t3", "t4", "t5", "t6", "t7"]
    short = service.call("get_episode", {"episode_id": id_, "max_chars": 1000})
    assert 0 < _values(short)["left_out"] < 20
    assert len(short["content"][0]["text"]) < 1100
    assert 'ask for them with units "' in short["content"][0]["text"]
    for units in ("7-3", "0", "a-b", "-1", "1-2-3", "99999999999"):
        refused = service.call("get_episode", {"episode_id": id_, "units": units})
        assert refused["structuredContent"]["error"]["field"] == "units"


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("search_memory", {"query": "  "}, "query"),
        ("search_memory", {"query": "a\x00b"}, "query"),
        ("search_memory", {"query": "a", "k": 201}, "k"),
        ("search_memory", {"query": "a", "as_of": "2026-01-01T00:00:00Z"}, "as_of"),
        ("search_memory", {"query": "a", "max_chars": 1}, "max_chars"),
        ("remember_memory", {"text": " \u200b"}, "text"),
        ("remember_memory", {"text": "a\x00b"}, "text"),
        ("remember_memory", {"text": "a", "source": ""}, "source"),
        ("remember_memory", {"text": "a", "tags": ["A B"]}, "tags"),
        ("remember_memory", {"text": "a", "occurred_at": "yesterday"}, "occurred_at"),
        ("remember_memory", {"text": "a", "occurred_at": "2026-03-01T09:00:00"}, "occurred_at"),
        ("remember_memory", {"text": "a", "visibility": "me"}, "visibility"),
        ("remember_memory", {"text": "a", "visibility": "all"}, "visibility"),
        ("remember_memory", {"text": "a" * (2 * 2**20 + 1)}, "text"),
        ("get_episode", {"episode_id": "e1"}, "episode_id"),
        ("get_episode", {"document": "handbook"}, "document"),
    ],
)
def test_what_a_tool_cannot_take_is_said_by_field(
    acme: dict[str, Wire], tool: str, arguments: dict[str, Any], field: str
) -> None:
    """Documented: one sentence that names the argument (cases 1, 11, 16, 39)."""
    result = acme["service"].call(tool, arguments)
    error = result["structuredContent"]["error"]
    assert (result["isError"], error["field"]) == (True, field)
    assert field in error["message"]
    assert result["content"] == [{"type": "text", "text": error["message"]}]


def test_search_takes_by_name_what_it_does_not_list(acme: dict[str, Wire]) -> None:
    """Documented: format, tags, order, episode_type and max_chars are arguments by name."""
    service = acme["service"]
    for n in range(3):
        note = {
            "text": f"alpha {n}",
            "tags": [f"t{n}"],
            "occurred_at": f"2026-0{n + 1}-01T00:00:00Z",
        }
        _values(service.call("remember_memory", note))
    newest = service.call("search_memory", {"query": "alpha", "order": "newest", "format": "json"})
    assert [p["text"] for p in _values(newest)["passages"]] == ["alpha 2", "alpha 1", "alpha 0"]

    assert json.loads(newest["content"][0]["text"]) == newest["structuredContent"]
    tagged = service.call("search_memory", {"query": "alpha", "tags": ["t1"]})
    assert [p["text"] for p in _values(tagged)["passages"]] == ["alpha 1"]
    none = service.call("search_memory", {"query": "alpha", "episode_type": "email"})
    assert (_values(none)["passages"], none["content"][0]["text"]) == ([], "Nothing found.")


def test_an_ingest_key_remembers_and_reads_nothing(acme: dict[str, Wire]) -> None:
    """Documented: an ingest key has remember_memory alone."""
    assert _values(acme["ingest"].call("remember_memory", {"text": "from a connector"}))["created"]
    unknown = acme["ingest"].call("search_memory", {"query": "connector"})
    assert unknown["error"]["code"] == -32602


def test_a_revoked_key_is_nobody_on_the_next_request(engine: Engine, settings: Settings) -> None:
    """Documented: rights are always now."""
    an_org("acme")
    key = a_key(Role.READER, org="acme")
    wire = Wire(an_app(), key.text)
    assert wire.tools()

    keys.revoke_key(local_caller(), key.record.public_id, clock=FixedClock())
    assert wire.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).status_code == 401


def test_under_a_branch_a_write_called_by_name_goes_to_main(acme: dict[str, Wire]) -> None:
    """Documented: MCP writes always go to main."""
    service = acme["service"]
    aside = service.at("/mcp?branch=what-if")
    assert [tool["name"] for tool in aside.tools()] == ["search_memory", "get_episode"]
    assert _values(aside.call("remember_memory", {"text": "written beside a branch"}))["created"]
    found = _values(service.call("search_memory", {"query": "beside branch"}))
    assert [passage["text"] for passage in found["passages"]] == ["written beside a branch"]


def test_sixty_four_writers_at_once_are_all_kept_and_found(
    acme: dict[str, Wire], engine: Engine
) -> None:
    """Ours: a waiting write holds no thread, so as many wait as there are callers."""
    service = acme["service"]

    async def write(n: int) -> Any:
        params = {"name": "remember_memory", "arguments": {"text": f"writer {n}"}}
        body = {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": params}
        answer = await service.asend("POST", body)
        return _values(answer.json()["result"])

    async def write_all() -> list[Any]:
        return await asyncio.gather(*(write(n) for n in range(64)))

    answers = asyncio.run(write_all())
    assert len({answer["episode_id"] for answer in answers}) == 64
    assert len({answer["commit"] for answer in answers}) == 64
    found = _values(service.call("search_memory", {"query": "writer", "k": 200}))
    assert len(found["passages"]) == 64
