"""The two eras: which one a message is of, what each demands, and that they answer alike."""

from collections.abc import Mapping
from typing import Any

import pytest
from mcp_types import methods

from mcp_gateway.eras import LEGACY, MODERN, SERVED
from tests.mcp_gateway.wire import Wire, legacy, modern

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


def _initialize(version: object) -> dict[str, Any]:
    client = {"name": "tests", "version": "1"}
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": client}


@pytest.mark.parametrize(
    ("asked", "given"),
    [*((version, version) for version in LEGACY), ("2024-11-05", LEGACY[0]), ("x", LEGACY[0]),
     (MODERN[0], LEGACY[0]), (None, LEGACY[0]), (5, LEGACY[0])],
)  # fmt: skip
def test_initialize_agrees_on_the_clients_version_or_offers_our_newest(
    local: Wire, asked: object, given: str
) -> None:
    """Documented: the client's version if we serve it, else our latest legacy one."""
    result = local.legacy("initialize", _initialize(asked))["result"]
    assert (result["protocolVersion"], result["capabilities"]) == (
        given,
        {"tools": {}, "prompts": {}},
    )
    methods.validate_server_result("initialize", given, result)


@pytest.mark.parametrize("version", LEGACY)
def test_a_legacy_request_stands_alone_whatever_session_it_names(local: Wire, version: str) -> None:
    """Documented: no session is minted, echoed or needed; other workers serve on (case 63)."""
    headers = {
        "mcp-protocol-version": version,
        "mcp-session-id": "of-another-process",
        "last-event-id": "9",
    }
    answer = local.post(legacy("tools/list"), headers=headers)
    assert (answer.status_code, "mcp-session-id" in answer.headers) == (200, False)
    methods.validate_server_result("tools/list", version, answer.json()["result"])


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "x/y"])
@pytest.mark.parametrize("version", [None, *SERVED])
def test_a_notification_is_taken_without_a_body(
    local: Wire, method: str, version: str | None
) -> None:
    """Documented: 202 and nothing else, in both eras."""
    body = {"jsonrpc": "2.0", "method": method}
    answer = local.post(body, headers={"mcp-protocol-version": version})
    assert (answer.status_code, answer.content) == (202, b"")
    assert "content-type" not in answer.headers


def test_a_version_that_is_not_served_is_told_which_are(local: Wire) -> None:
    """Documented: 400, -32022 with the served versions, in both eras."""
    body, headers = modern("tools/list")
    later = {**headers, "mcp-protocol-version": "2099-01-01"}
    body["params"]["_meta"][VERSION] = "2099-01-01"
    old = {"mcp-protocol-version": "1999-01-01"}
    for answer, requested, supported in (
        (local.post(body, headers=later), "2099-01-01", MODERN),
        (local.post(legacy("tools/list"), headers=old), "1999-01-01", SERVED),
    ):
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (400, -32022)
        assert error["data"] == {"supported": list(supported), "requested": requested}


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "no/such"])
def test_a_method_the_modern_era_does_not_know_is_404(local: Wire, method: str) -> None:
    """Documented: 404 and -32601, `initialize` and `ping` too."""
    body, headers = modern(method)
    answer = local.post(body, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, -32601)


@pytest.mark.parametrize("method", ["logging/setLevel", "completion/complete", "no/such"])
def test_a_method_the_legacy_era_does_not_know_is_an_error_in_a_200(
    local: Wire, method: str
) -> None:
    """Documented: -32601 in a 200."""
    answer = local.post(legacy(method, {}))
    assert (answer.status_code, answer.json()["error"]["code"]) == (200, -32601)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"mcp-protocol-version": None}, -32020),
        ({"mcp-protocol-version": LEGACY[0]}, -32020),
        ({"mcp-method": None}, -32020),
        ({"mcp-method": "tools/list"}, -32020),
        ({"mcp-method": "TOOLS/CALL"}, -32020),
        ({"mcp-name": None}, -32020),
        ({"mcp-name": "other"}, -32020),
        ({"mcp-name": "=?base64?b3RoZXI=?="}, -32020),
        ({"mcp-name": "=?base64?!?="}, -32020),
        ({"mcp-name": "=?base64?ZWNobw==?="}, None),
        ({"mcp-name": "  echo "}, None),
    ],
)
def test_headers_say_what_the_body_says(
    local: Wire, changes: Mapping[str, str | None], code: int | None
) -> None:
    """Documented: version, method and name are in the headers too and equal, else -32020."""
    body, headers = modern("tools/call", {"name": "echo", "arguments": {"text": "a"}})
    answer = local.post(body, headers={**headers, **changes})
    error = answer.json().get("error", {})
    assert (answer.status_code, error.get("code")) == (400 if code else 200, code)
    assert answer.json()["id"] == 7


@pytest.mark.parametrize("missing", [VERSION, CAPABILITIES, "_meta"])
def test_a_modern_request_carries_its_version_and_capabilities(local: Wire, missing: str) -> None:
    """Documented: either missing is 400, -32602."""
    body, headers = modern("tools/list")
    body["params"].pop(missing, None)
    body["params"].get("_meta", {}).pop(missing, None)
    answer = local.post(body, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32602)


def test_discover_says_what_initialize_says(local: Wire) -> None:
    """Documented: the modern opening carries the same capabilities and instructions."""
    result = local.modern("server/discover")["result"]
    first = local.legacy("initialize", _initialize(LEGACY[0]))["result"]
    assert result["supportedVersions"] == list(MODERN)
    assert result["instructions"] == first["instructions"]
    assert result["capabilities"] == first["capabilities"] == {"tools": {}, "prompts": {}}
    methods.validate_server_result("server/discover", MODERN[0], result)


@pytest.mark.parametrize(
    ("method", "key"),
    [
        ("tools/list", "tools"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ],
)
def test_lists_say_how_long_and_for_whom_they_hold(local: Wire, method: str, key: str) -> None:
    """Documented: private hints in the modern era, none of its fields in the legacy one."""
    new = local.modern(method)["result"]
    old = local.legacy(method)["result"]
    assert (new["cacheScope"], new["resultType"], new["ttlMs"] > 0) == ("private", "complete", True)
    assert new["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "ampup-memory"
    assert old == {key: new[key]}
    methods.validate_server_result(method, MODERN[0], new)
    assert local.modern(method, {"cursor": "x"})["error"]["code"] == -32602


def test_what_is_not_there_to_read_is_said_in_each_eras_code(local: Wire) -> None:
    """Documented: an unknown resource is -32602 in the modern era, -32002 was the legacy's."""
    assert local.modern("resources/read", {"uri": "x://y"})["error"]["code"] == -32602
    assert local.legacy("resources/read", {"uri": "x://y"})["error"]["code"] == -32002
    assert local.modern("prompts/get", {"name": "x"})["error"]["code"] == -32602


@pytest.mark.parametrize("text", ["hello", "naïve 漢字 👩‍👩‍👧 é", "refuse"])
def test_both_eras_answer_a_call_alike(local: Wire, text: str) -> None:
    """Documented: the same call, the same answer."""
    assert local.call("echo", {"text": text}) == local.call("echo", {"text": text}, era="modern")
