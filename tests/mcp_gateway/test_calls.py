"""Calls of tools: arguments read strictly, refusals a model can act on, scopes and rights."""

from typing import Any

import pytest
from pytest_django import Settings

from accounts.domain.caller import Caller
from accounts.domain.roles import Role
from mcp_gateway import asgi
from tests.mcp_gateway.wire import Wire, an_app, an_echo, legacy


@pytest.mark.parametrize(
    ("arguments", "field", "message"),
    [
        ({}, "text", "`text` is missing; it must be a text."),
        ({"text": None}, "text", "`text` is missing; it must be a text."),
        ({"text": 5}, "text", "`text` must be a text."),
        ({"text": "a", "times": "2"}, "times", "`times` must be a whole number from 1 to 3."),
        ({"text": "a", "times": True}, "times", "`times` must be a whole number from 1 to 3."),
        ({"text": "a", "times": 0}, "times", "`times` must be a whole number from 1 to 3."),
        ({"text": "a", "times": 1e300}, "times", "`times` must be a whole number from 1 to 3."),
        ({"text": "a", "tags": "b"}, "tags", "`tags` must be a list of texts."),
        ({"text": "a", "tags": ["b", 1]}, "tags", "`tags` must be a list of texts."),
        ({"text": "a", "mode": "soft"}, "mode", "`mode` must be one of loud, low."),
        (
            {"text": "a", "tetx": "b"},
            "tetx",
            "'tetx' is no argument of echo; its arguments are text, times, tags, mode.",
        ),
        (
            {"text": "a", "as_of": "x"},
            "as_of",
            "`as_of` is not served by this version; leave it out.",
        ),
        ({"text": "refuse"}, "text", "`text` must say something else."),
    ],
)
def test_a_bad_argument_is_answered_by_the_tool_in_one_sentence(
    local: Wire, arguments: object, field: str, message: str
) -> None:
    """Documented: isError, a sentence that names the field, and the same for machines."""
    error = {"code": "bad_request", "message": message, "field": field}
    assert local.call("echo", arguments) == {
        "content": [{"type": "text", "text": message}],
        "structuredContent": {"error": error},
        "isError": True,
    }


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": "a", "times": 2.0},
        {"text": "a", "times": None, "tags": None, "mode": None},
        {"text": "a", "mode": "loud", "tags": []},
    ],
)
def test_whole_floats_and_nulls_are_taken_as_hosts_mean_them(
    local: Wire, arguments: object
) -> None:
    """Ours: JSON has no integers, and strict hosts send null for what they leave out."""
    assert local.call("echo", arguments)["isError"] is False


def test_what_fails_for_our_reasons_tells_no_reason(
    local: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: the model is told where the log has it; the log has the traceback."""
    result = local.call("echo", {"text": "fail"})
    assert result["structuredContent"]["error"]["code"] == "internal"
    assert "secret-of-the-server" not in str(result)
    assert "secret-of-the-server" in caplog.text


@pytest.mark.parametrize(
    "params",
    [
        {"name": "no_such", "arguments": {}},
        {"name": "", "arguments": {}},
        {"name": 5},
        {"arguments": {}},
        {"name": "echo", "arguments": [1]},
        {"name": "echo", "arguments": "{}"},
    ],
)
def test_an_unknown_tool_or_a_misshapen_call_is_a_protocol_error(
    local: Wire, params: dict[str, Any]
) -> None:
    """Documented: -32602, and a tool the caller may not call is an unknown one."""
    assert local.legacy("tools/call", params)["error"]["code"] == -32602


@pytest.mark.parametrize("role", list(Role))
def test_a_caller_is_shown_and_may_call_the_same_tools(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    """Documented: an ingest key has remember_memory alone, a reader key all but that."""
    caller = Caller(author="key:AbCd1234", role=role, key_id="AbCd1234")
    monkeypatch.setattr(asgi, "authenticate", lambda *_, **__: caller)
    wire = Wire(an_app(), key="any")
    reads, writes = ["search_memory", "get_episode"], ["remember_memory"]
    offered = {
        Role.INGEST: writes,
        Role.READER: reads,
        Role.RECORDER: [],
    }.get(role, reads + writes)
    assert [tool["name"] for tool in wire.tools()] == offered
    for name in {*reads, *writes} - set(offered):
        answers = [
            wire.legacy("tools/call", {"name": tool, "arguments": {}}) for tool in (name, "other")
        ]
        assert [answer["error"]["code"] for answer in answers] == [-32602, -32602]
        assert str(answers[0]).replace(name, "other") == str(answers[1])


def test_instructions_speak_of_the_offered_tools_alone(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documented: what a caller may not call is not mentioned to it."""
    caller = Caller(author="key:AbCd1234", role=Role.INGEST, key_id="AbCd1234")
    monkeypatch.setattr(asgi, "authenticate", lambda *_, **__: caller)
    text = Wire(an_app(), key="any").legacy("initialize", {})["result"]["instructions"]
    assert ("remember_memory" in text, "search_memory" in text) == (True, False)


def test_a_scope_comes_from_url_and_headers(settings: Settings) -> None:
    """Documented: org and team in the URL or in headers; two that differ are refused."""
    settings.AMPUP_LOCAL = True
    app = an_app(an_echo())
    said = {"text": "a"}
    assert _scope(Wire(app), said) == "org:default"
    assert _scope(Wire(app).at("/mcp?org=acme&team=sales"), said) == "team:acme/sales"
    refused = Wire(app).at("/mcp?org=acme&org=other").call("echo", said)
    assert refused["structuredContent"]["error"]["code"] == "scope_conflict"
    refused = Wire(app).at("/mcp?org=../x").call("echo", said)
    assert refused["structuredContent"]["error"]["code"] == "bad_scope"
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "echo", "arguments": said}}  # fmt: skip
    headers = {"x-memstore-org": "acme"}
    result = Wire(app).post(body, headers=headers).json()["result"]
    assert result["structuredContent"]["scope"] == "org:acme"
    conflict = Wire(app).at("/mcp?org=other").post(body, headers=headers).json()["result"]
    assert conflict["structuredContent"]["error"]["code"] == "scope_conflict"


def test_a_url_with_too_many_parameters_is_refused(local: Wire) -> None:
    """Regression: its scope was passed over, and the default org served instead."""
    crowd = "&".join(f"p{n}=1" for n in range(100))
    response = local.at(f"/mcp?org=acme&{crowd}").post(legacy("ping"))
    assert (response.status_code, response.json()["error"]["data"]["code"]) == (400, "bad_request")
    fewer = crowd.removesuffix("&p99=1")
    assert _scope(local.at(f"/mcp?org=acme&{fewer}"), {"text": "a"}) == "org:acme"


@pytest.mark.parametrize("position", ["at", "branch"])
def test_another_place_in_history_is_refused_by_name(local: Wire, position: str) -> None:
    """Documented: reads there are not built yet and say so; the write tools are not listed."""
    elsewhere = local.at(f"/mcp?{position}=x")
    result = elsewhere.call("echo", {"text": "a"})
    assert result["structuredContent"]["error"]["field"] == position
    writing = Wire(an_app(an_echo(read_only=False))).at(f"/mcp?{position}=x")
    assert writing.tools() == []
    assert writing.call("echo", {"text": "a"})["isError"] is False


def _scope(wire: Wire, said: object) -> object:
    return wire.call("echo", said)["structuredContent"]["scope"]
