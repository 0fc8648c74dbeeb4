"""What HTTP itself answers: paths, methods, hosts, origins, heads, bodies; nothing of MCP yet."""

import asyncio
import errno
from typing import Any

import psycopg
import pytest
from django.db import OperationalError
from pytest_django import Settings

from ampup_site.kernel.errors import ErrorKind
from mcp_gateway import asgi, bridge
from mcp_gateway.errors import RPC_CODES, STATUSES
from mcp_gateway.tools import search_memory
from tests.mcp_gateway.wire import Wire, an_app, an_echo, legacy

PATHS = ("/mcp", "/mcp/", "/mcp/hook", "/mcp/hook/", "/mcp?org=default", "/mcp/?org=default")


@pytest.mark.parametrize("path", PATHS)
def test_every_spelling_of_the_path_answers_where_it_stands(local: Wire, path: str) -> None:
    """Documented: /mcp and /mcp/hook, with and without the slash, never a redirect (case 61)."""
    answer = local.at(path).post(legacy("ping"))
    assert (answer.status_code, answer.json()) == (200, {"jsonrpc": "2.0", "id": 7, "result": {}})
    assert "mcp-session-id" not in answer.headers
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"])
def test_only_post_is_served_and_the_rest_is_told_so_at_once(local: Wire, method: str) -> None:
    """Documented: POST only; every other method is 405 with Allow, without a key too."""
    answer = local.send(method, headers={"accept": "text/event-stream"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_other_paths_are_not_here(local: Wire) -> None:
    """Ours: the application answers for its own paths alone."""
    assert local.at("/mcp/other").post(legacy("ping")).status_code == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": ""}, 421),
        ({"host": "127.0.0.1:9/x"}, 421),
        ({"host": "127.0.0.1, evil.example"}, 421),
        ({"host": "memory.example:8080"}, 200),
        ({"host": "[::1]:8080"}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1.evil.example"}, 403),
        ({"origin": "http://["}, 403),
        ({"origin": "file://127.0.0.1"}, 403),
        ({"origin": "http://localhost:6274"}, 200),
        ({"origin": "http://[::1]:6274"}, 200),
    ],
)
def test_hosts_and_origins_are_those_of_this_server(
    local: Wire, headers: dict[str, str], status: int
) -> None:
    """Documented: a wrong Host is 421, a wrong Origin 403, in JSON; the DNS-rebinding guard."""
    answer = local.post(legacy("ping"), headers=headers)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"


def test_any_host_does_not_mean_any_site(settings: Settings) -> None:
    """Ours: behind a proxy that checks hosts, only the server's own pages may call it."""
    settings.AMPUP_LOCAL = True
    wire = Wire(an_app(an_echo(), hosts=("*",)))
    own = {"host": "any.example", "origin": "https://any.example"}
    assert wire.post(legacy("ping"), headers=own).status_code == 200
    foreign = {"host": "any.example", "origin": "https://evil.example"}
    assert wire.post(legacy("ping"), headers=foreign).status_code == 403


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        (None, 200),
        ("", 200),
        ("*/*", 200),
        ("application/json", 200),
        ("APPLICATION/JSON", 200),
        ("application/*;q=0.1", 200),
        ("text/html, application/json;q=0.5", 200),
        ("text/event-stream", 200),
        ("text/html", 406),
        ("application/json;q=0", 406),
        ("application/json; q=0.000, text/html", 406),
    ],
)
def test_json_is_served_to_whoever_can_take_it(
    local: Wire, accept: str | None, status: int
) -> None:
    """Documented: absent, any and JSON give JSON; 406 only if nothing fits (case 60)."""
    assert local.post(legacy("ping"), headers={"accept": accept}).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "application/json; charset=utf-8"}, 200),
        ({"content-type": None}, 200),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "multipart/form-data; boundary=x"}, 415),
        ({"content-encoding": "gzip"}, 415),
    ],
)
def test_the_body_is_plain_json(local: Wire, headers: dict[str, Any], status: int) -> None:
    """Ours: another type or a compressed body is 415, before it is read (case 20)."""
    assert local.post(legacy("ping"), headers=headers).status_code == status


@pytest.mark.parametrize(
    ("body", "status", "code", "id_"),
    [
        (b"", 400, -32700, None),
        (b"{", 400, -32700, None),
        (b"\xff\xfe", 400, -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\ud800"}}', 400, -32700, None),
        (b"[" * 20_000, 400, -32700, None),
        (b"[" * 40 + b"]" * 40, 400, -32600, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + b"[" * 40 + b"]" * 40 + b"}}",
         400, -32600, 1),
        ([legacy("ping")], 400, -32600, None),
        ([], 400, -32600, None),
        ("text", 400, -32600, None),
        ({**legacy("ping"), "id": None}, 400, -32600, None),
        ({**legacy("ping"), "id": True}, 400, -32600, None),
        ({**legacy("ping"), "id": 1.5}, 400, -32600, None),
        ({**legacy("ping"), "jsonrpc": "1.0"}, 400, -32600, 7),
        ({"jsonrpc": "2.0", "id": 7}, 400, -32600, 7),
        ({"jsonrpc": "2.0", "id": 7, "result": {}}, 400, -32600, 7),
        ({**legacy("ping"), "method": 5}, 400, -32600, 7),
        ({**legacy("ping"), "params": [1]}, 400, -32600, 7),
    ],
)  # fmt: skip
def test_what_is_no_message_is_refused_in_one_line(
    local: Wire, body: object, status: int, code: int, id_: int | None
) -> None:
    """Documented: no JSON is -32700; batches, null ids and responses -32600 (cases 9, 19)."""
    answer = local.post(body)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], answer.json().get("id")) == (status, code, id_)
    assert len(error["message"]) < 120
    assert "\n" not in error["message"]


def test_a_body_over_the_limit_is_refused_told_or_untold(local: Wire) -> None:
    """Ours: 413 by the header, and by counting where the header lies or is absent (case 20)."""
    message = legacy("ping")
    exact = 2**16 - len(str(message)) - 100
    assert local.post({**message, "params": {"a": "x" * exact}}).status_code == 200
    assert local.post({**message, "params": {"a": "x" * 2**16}}).status_code == 413
    read: list[int] = []

    async def endless() -> dict[str, Any]:
        read.append(1)
        return {"type": "http.request", "body": b" " * 10_000, "more_body": True}

    statuses = asyncio.run(_raw(local, endless))
    assert (statuses, len(read)) == ([413], 7)


def test_without_a_key_nothing_of_the_body_is_read(settings: Settings) -> None:
    """Documented: 401 with a plain challenge, from the head alone (case 20)."""
    settings.AMPUP_LOCAL = False
    wire = Wire(an_app(an_echo()))
    answer = wire.post(legacy("ping"))
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="ampup-memory"'
    assert answer.json()["error"]["data"] == {"code": "unauthenticated"}

    async def never() -> dict[str, Any]:
        raise AssertionError

    assert asyncio.run(_raw(wire, never)) == [401]


def test_a_key_in_the_url_is_refused_and_never_said_back(local: Wire) -> None:
    """Documented: keys stand in the header alone; URLs are logged by others."""
    key = "msk_AbCd1234_" + "x" * 32
    answer = local.at(f"/mcp?key={key}").post(legacy("ping"))
    assert (answer.status_code, key in answer.text) == (400, False)


def test_a_request_id_is_given_back_if_it_is_one(local: Wire) -> None:
    """Documented: x-request-id is echoed; what is no id is replaced, not repeated."""
    mine = local.post(legacy("ping"), headers={"x-request-id": "abc-1.2"})
    assert mine.headers["x-request-id"] == "abc-1.2"
    other = local.post(legacy("ping"), headers={"x-request-id": "<script>"})
    assert other.headers["x-request-id"].startswith("req_")


@pytest.mark.parametrize(
    "outage",
    [
        OperationalError("secret-of-the-server"),
        psycopg.OperationalError("secret-of-the-server"),
        OSError(errno.ENOSPC, "secret-of-the-server"),
        OSError(errno.EROFS, "secret-of-the-server"),
    ],
)
def test_a_database_or_disk_that_is_away_is_a_503_that_may_be_tried_again(
    local: Wire, monkeypatch: pytest.MonkeyPatch, outage: Exception
) -> None:
    """Regression: no 500 before a tool or inside one; a full disk was `internal`."""

    def away(*_: object, **__: object) -> Any:
        raise outage

    monkeypatch.setattr(bridge, "engine", away)
    monkeypatch.setattr(search_memory, "find_passages", away)
    result = Wire(an_app()).call("search_memory", {"query": "a"})
    assert result["structuredContent"]["error"]["code"] == "unavailable"
    monkeypatch.setattr(asgi, "authenticate", away)
    answer = local.post(legacy("ping"))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "secret" not in answer.text + str(result)


def test_every_kind_of_error_has_a_status_and_a_code() -> None:
    """Ours: a new kind of error cannot be forgotten here."""
    assert set(STATUSES) == set(RPC_CODES) == set(ErrorKind)
    assert not any(-32099 <= code <= -32000 for code in RPC_CODES.values())


async def _raw(wire: Wire, receive: Any) -> list[int]:
    """Return the statuses of one request whose body `receive` makes."""
    sent: list[dict[str, Any]] = []

    async def send(event: Any) -> None:
        sent.append(event)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }
    await wire.app(scope, receive, send)
    return [event["status"] for event in sent if "status" in event]
