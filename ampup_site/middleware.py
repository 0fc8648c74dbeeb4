"""What surrounds every request outside of MCP: Host check, request id, body limit, one log line.

It is ASGI and not Django's middleware, so that no request hops between threads for it and a
body is counted while it comes in. MCP's own application does the same for its paths.
"""

import json
import logging
import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final, TypeAlias

from django.db import Error
from django.http.request import split_domain_port, validate_host

from accounts.api.auth import bearer_token
from accounts.services.authenticate import authenticate
from accounts.wiring import door, gate
from ampup_site.http_errors import EXTRA_HEADERS, STATUSES, refusal_of
from ampup_site.kernel.clock import SystemClock
from ampup_site.kernel.errors import AmpUpError
from ampup_site.kernel.ids import REQUEST, UlidSource
from ampup_site.kernel.threads import pool

logger = logging.getLogger(__name__)

Event: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Event]]
Send: TypeAlias = Callable[[Event], Awaitable[None]]
Application: TypeAlias = Callable[[Event, Receive, Send], Awaitable[None]]

_REQUEST_ID: Final = re.compile(rb"[0-9A-Za-z_.-]{1,64}")
_HEADER: Final = b"x-request-id"
_NO_STORE: Final = (b"cache-control", b"no-store")
"""On every answer: each is one caller's, and of one moment."""

_LONG_BYTES: Final = 64 * 2**10
"""Bytes that may be read before it is known who sends them."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer given before the application is asked."""

    status: int
    code: str
    message: str
    field: str | None = None


class _TooLong(Exception):
    """The body went over the limit while it came in."""


class Surrounded:
    """An ASGI application with what surrounds it."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._ids = UlidSource(SystemClock())

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        began = perf_counter()
        request_id = self._named(scope)
        status = 0

        async def noting(event: Event) -> None:
            nonlocal status
            if event["type"] == "http.response.start":
                status = event["status"]
                ours = ((_HEADER, request_id), _NO_STORE)
                names = {name for name, _ in ours}
                kept = [pair for pair in event.get("headers", ()) if pair[0].lower() not in names]
                event = {**event, "headers": [*kept, *ours]}
            await send(event)

        refusal = refuse_host(scope) or refuse_length(scope)
        if refusal is None and is_long(scope):
            refusal = await pool().run(refuse_stranger, header(scope, b"authorization"))
        try:
            if refusal is None:
                await self._application(scope, counted(receive), noting)
        except _TooLong:
            refusal = too_long()
        if refusal is not None and status == 0:
            await answer(refusal, noting)
        took = (perf_counter() - began) * 1000
        path = scope["path"].encode("ascii", "backslashreplace").decode()
        shown = path if path.isprintable() else ascii(path)
        name = request_id.decode()
        logger.info("%s %s %s %d %.1f ms", name, scope["method"], shown, status, took)

    def _named(self, scope: Event) -> bytes:
        """Give the request its id: the caller's where it is fit for a log, else one of ours."""
        given = header(scope, _HEADER)
        fit = given is not None and _REQUEST_ID.fullmatch(given)
        request_id = given if given is not None and fit else self._ids.mint(REQUEST).encode()
        others = [pair for pair in scope["headers"] if pair[0].lower() != _HEADER]
        scope["headers"] = [*others, (_HEADER, request_id)]
        return request_id


def header(scope: Event, name: bytes) -> bytes | None:
    """Return the first header of that lower-case name."""
    found: bytes | None = next((value for key, value in scope["headers"] if key == name), None)
    return found


def refuse_host(scope: Event) -> Refusal | None:
    """Refuse a Host that is none of ours: a web page may have pointed its own name at us."""
    host, _port = split_domain_port((header(scope, b"host") or b"").decode("latin-1"))
    if host and validate_host(host, gate().hosts):
        return None
    message = (
        "The Host header names another server; the operator adds names by"
        " AMPUP_MEMORY_ALLOWED_HOSTS."
    )
    return Refusal(421, "bad_host", message)


def refuse_length(scope: Event) -> Refusal | None:
    """Refuse a body that says itself that it is too long."""
    said = header(scope, b"content-length") or b"0"
    fits = said.isdigit() and int(said[:20]) <= gate().max_body
    return None if fits else too_long()


def is_long(scope: Event) -> bool:
    """Tell whether a body is long, or does not say how long it is."""
    if header(scope, b"transfer-encoding") is not None:
        return True
    return int((header(scope, b"content-length") or b"0")[:20]) > _LONG_BYTES


def refuse_stranger(authorization: bytes | None) -> Refusal | None:
    """Refuse who has no key before a long body of theirs is read; short ones are read first."""
    entrance = door()
    try:
        token = None if authorization is None else authorization.decode("latin-1")
        authenticate(bearer_token(token), clock=entrance.clock, local=entrance.local)
    except (AmpUpError, Error) as error:
        refusal = refusal_of(error)
        if refusal is None:
            raise
        return Refusal(STATUSES[refusal.kind], refusal.code, refusal.message, refusal.field)
    return None


def too_long() -> Refusal:
    """Return the refusal of a body over the limit."""
    limit = gate().max_body
    return Refusal(413, "too_large", f"The body is over {limit} bytes; send it in parts.")


def counted(receive: Receive) -> Receive:
    """Return `receive` that counts a body's bytes and stops it over the limit."""
    size = 0

    async def receive_counted() -> Event:
        nonlocal size
        event = await receive()
        if event["type"] == "http.request":
            size += len(event.get("body", b""))
            if size > gate().max_body:
                raise _TooLong
        return event

    return receive_counted


async def answer(refusal: Refusal, send: Send) -> None:
    """Send a refusal in the envelope of every error."""
    error = {"code": refusal.code, "message": refusal.message}
    if refusal.field is not None:
        error["field"] = refusal.field
    body = json.dumps({"error": error}).encode()
    extra = EXTRA_HEADERS.get(refusal.status, {})
    headers = [
        *((name.lower().encode(), value.encode()) for name, value in extra.items()),
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
