"""What surrounds every request, over ASGI in process."""

import asyncio
from typing import Any

import pytest
from pytest_django import Settings

from ampup_site.middleware import Event, Receive, Send, Surrounded


async def echo(scope: Event, receive: Receive, send: Send) -> None:
    """Answers with the length of the body and the request's id as it saw it."""
    size, more = 0, True
    while more:
        event = await receive()
        size += len(event.get("body", b""))
        more = event.get("more_body", False)
    seen = dict(scope["headers"])[b"x-request-id"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode() + b" " + seen})


def ask(pieces: list[bytes], **headers: str) -> tuple[int, bytes | None, bytes]:
    """Send one request: status, request id of the answer, body."""
    events = [
        {"type": "http.request", "body": piece, "more_body": place + 1 < len(pieces)}
        for place, piece in enumerate(pieces)
    ]
    sent: list[Any] = []

    async def receive() -> Event:
        del pieces[:1]
        return events.pop(0)

    async def send(event: Event) -> None:
        sent.append(event)

    named = {"host": "127.0.0.1:8080", **{key.replace("_", "-"): headers[key] for key in headers}}
    pairs = [(key.encode(), value.encode("latin-1")) for key, value in named.items()]
    scope = {"type": "http", "method": "POST", "path": "/x", "headers": pairs}
    asyncio.run(Surrounded(echo)(scope, receive, send))
    start, body = sent
    return start["status"], dict(start["headers"]).get(b"x-request-id"), body["body"]


def test_a_request_keeps_its_id_and_one_without_gets_one() -> None:
    """Documented: x-request-id is echoed."""
    assert ask([b"ab", b"c"], x_request_id="mine-1") == (200, b"mine-1", b"3 mine-1")
    status, request_id, body = ask([b""])
    assert status == 200
    assert request_id is not None
    assert request_id.startswith(b"req_")
    assert body == b"0 " + request_id


@pytest.mark.parametrize("bad", ["two words", "x" * 65, "a\nb", "\xe9", ""])
def test_an_id_that_is_unfit_for_a_log_is_replaced(bad: str) -> None:
    """Ours: nobody writes lines of their own into the log."""
    _, request_id, _ = ask([b""], x_request_id=bad)
    assert request_id is not None
    assert request_id.startswith(b"req_")


@pytest.mark.parametrize("said", [True, False])
def test_a_long_body_is_refused_before_it_is_whole(*, said: bool, settings: Settings) -> None:
    """Documented: 413 before parsing, whether or not the length was said."""
    settings.AMPUP_MAX_BODY_BYTES = 10
    headers = {"content_length": "12"} if said else {}
    status, _, body = ask([b"123456", b"123456"], **headers)
    assert status == 413
    assert b'"too_large"' in body
    assert ask([b"12345", b"12345"])[0] == 200


@pytest.mark.parametrize("how", [{"content_length": "70000"}, {"transfer_encoding": "chunked"}])
def test_a_long_body_of_nobody_is_not_read(how: dict[str, str], settings: Settings) -> None:
    """Regression: without a key only the head is read (case 20)."""
    settings.AMPUP_LOCAL = False
    for authorization in ({}, {"authorization": "Basic x"}, {"authorization": "Bearer msk_x"}):
        unread = [b"never"]
        status, _, body = ask(unread, **how, **authorization)
        assert status == 401
        assert b'"unauthenticated"' in body
        assert unread == [b"never"]
    settings.AMPUP_LOCAL = True
    assert ask([b"all"], **how)[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[::1", "a b"])
def test_a_host_that_is_not_ours_is_refused(host: str, settings: Settings) -> None:
    """Documented: serve --local checks the Host."""
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]"]
    assert ask([b""], host=host)[0] == 421
    for ours in ("localhost", "LOCALHOST:1", "[::1]:8080", "127.0.0.1"):
        assert ask([b""], host=ours)[0] == 200
