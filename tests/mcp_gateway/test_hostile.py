"""Whatever is sent, the answer is one of the protocol's: never a 500, never a reason of ours."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_gateway.json_rpc import Refused, read_message
from tests.mcp_gateway.wire import Wire, legacy, modern

_WORDS = st.sampled_from(
    ["jsonrpc", "2.0", "id", "method", "params", "name", "arguments", "_meta", "text", "times",
     "tags", "mode", "echo", "tools/call", "tools/list", "initialize", "resources/read", "uri",
     "cursor", "io.modelcontextprotocol/protocolVersion", "2026-07-28"]
)  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS | st.text(max_size=3), inner,
                                                               max_size=4),
    max_leaves=12,
)  # fmt: skip
_ANY = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@_ANY
@given(body=st.binary(max_size=200) | _JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_message_or_are_refused(body: bytes) -> None:
    """Ours: the reader raises nothing but refusals, each of one short line (cases 9, 19)."""
    refused = _refusal_of(body)
    assert refused is None or (refused.status == 400 and len(refused.message) < 120)


def _refusal_of(body: bytes) -> Refused | None:
    try:
        read_message(body, max_depth=8)
    except Refused as refused:
        return refused
    return None


@_ANY
@given(
    method=st.sampled_from(["tools/call", "tools/list", "initialize", "resources/read", "x"]),
    params=st.dictionaries(_WORDS | st.text(max_size=3), _JSON, max_size=5),
)
def test_any_params_are_answered_within_the_protocol(
    local: Wire, method: str, params: dict[str, Any]
) -> None:
    """Ours: both eras answer every params object by a result or a protocol error."""
    params.pop("_meta", None)
    body, headers = modern(method, params)
    new, old = local.post(body, headers=_sendable(headers)), local.post(legacy(method, params))
    for answer in (new, old):
        assert answer.status_code in {200, 400, 404}
        assert answer.json()["id"] == 7
        assert '"internal"' not in answer.text


@_ANY
@given(arguments=st.dictionaries(_WORDS | st.text(max_size=3), _JSON, max_size=5))
def test_any_arguments_are_taken_or_refused_by_field(
    local: Wire, arguments: dict[str, Any]
) -> None:
    """Ours: a tool's refusal always names a field and never is a fault of the server."""
    result = local.call("echo", arguments)
    if result["isError"]:
        error = result["structuredContent"]["error"]
        assert error["code"] == "bad_request"
        assert error["field"] in {*arguments, "text"} | {name[:60] for name in arguments}


def test_a_nul_in_an_argument_is_refused_by_its_name(local: Wire) -> None:
    """Regression: a filter with U+0000 reached the database and failed there."""
    for field, value in (("text", "a\x00b"), ("tags", ["a", "\x00"])):
        result = local.call("echo", {"text": "a", field: value})
        error = result["structuredContent"]["error"]
        assert (error["code"], error["field"]) == ("bad_request", field)


def test_a_message_of_very_many_arrays_is_refused_unparsed() -> None:
    """Regression: three million of them held every caller of the process for seconds."""
    body = json.dumps(legacy("ping")).encode()[:-1] + b',"a":[' + b"[]," * 100_000 + b"[]]}"
    assert _refusal_of(body) is not None
    text = {"name": "echo", "arguments": {"text": "[{" * 100_000}}
    assert _refusal_of(json.dumps(legacy("tools/call", text)).encode()) is None


def _sendable(headers: dict[str, str | None]) -> dict[str, str | None]:
    name = headers.get("mcp-name")
    if name is not None and not (name.isascii() and name.isprintable()):
        headers["mcp-name"] = "none"
    return headers
