"""MCP as an ASGI application: the head is checked, the caller known, and only then is read.

Source: MCP, "Streamable HTTP", of both eras; specification, section 14.1.
"""

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, Final, TypeAlias

from mcp_types import INTERNAL_ERROR, INVALID_REQUEST

from accounts.api.auth import bearer_token
from accounts.domain.caller import Caller
from accounts.services.authenticate import authenticate
from accounts.wiring import door
from ampup_site.kernel.clock import SystemClock
from ampup_site.kernel.errors import AmpUpError
from ampup_site.kernel.ids import REQUEST, UlidSource
from mcp_gateway.bridge import in_thread
from mcp_gateway.eras import era_of
from mcp_gateway.errors import error_answer, refusal_answer
from mcp_gateway.guards import refuse_address, refuse_head, refuse_method, too_large
from mcp_gateway.json_rpc import Message, Refused, error_body, read_message, result_body
from mcp_gateway.methods import Visit, answer
from mcp_gateway.request import JSON_TYPE, Answer, Request, request_of
from mcp_gateway.wiring import Gateway, gateway

logger = logging.getLogger(__name__)

PATHS: Final = frozenset({"/mcp", "/mcp/", "/mcp/hook", "/mcp/hook/"})
"""Each is answered where it stands: a redirect would lose the body."""

_BODY_SECS: Final = 60
"""How long a client may take to send a body, so that slow ones hold no memory for ever."""

_REQUEST_ID: Final = re.compile(r"[0-9A-Za-z_.-]{1,64}")

Event: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Event]]
Send: TypeAlias = Callable[[Event], Awaitable[None]]


class ClientGone(Exception):
    """The client hung up before its body was whole; there is nobody to answer."""


class McpApp:
    """The ASGI application of the MCP paths; it keeps nothing between requests."""

    def __init__(self, read_settings: Callable[[], Gateway]) -> None:
        self._gateway = read_settings
        self._ids = UlidSource(SystemClock())

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Span the time the application serves; there is nothing to open or close."""
        yield

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        if scope["type"] != "http":
            message = f"the MCP application serves HTTP, not {scope['type']}"
            raise RuntimeError(message)
        began = time.monotonic()
        request = request_of(scope)
        request_id = self._request_id(request)
        label = ["-"]
        try:
            reply = await self._reply(request, request_id, receive, label)
        except ClientGone:
            logger.debug("%s: client gone while sending", request_id)
            return
        except Exception:
            logger.exception("%s: request failed", request_id)
            text = (
                f"The request failed for a reason of the server's; its log has it as {request_id}."
            )
            reply = refusal_answer(500, "internal", text, rpc_code=INTERNAL_ERROR)
        await _send(reply, request_id, send)
        took = (time.monotonic() - began) * 1000
        logger.info(
            "%s POST %s %s %d %.1f ms", request_id, request.path, label[0], reply.status, took
        )

    async def _reply(
        self, request: Request, request_id: str, receive: Receive, label: list[str]
    ) -> Answer:
        settings = self._gateway()
        if request.path not in PATHS:
            return refusal_answer(404, "not_found", "Not found.", rpc_code=INVALID_REQUEST)
        refusal = refuse_address(request, hosts=settings.hosts) or refuse_method(request)
        if refusal is not None:
            return refusal
        try:
            caller = await in_thread(_caller_of, request)
        except AmpUpError as error:
            return error_answer(error)
        refusal = refuse_head(request, max_body=settings.max_body)
        if refusal is not None:
            return refusal
        body = await _read_body(receive, settings.max_body)
        if isinstance(body, Answer):
            return body
        try:
            message = read_message(body, max_depth=settings.max_depth)
        except Refused as refused:
            return Answer(refused.status or 400, error_body(refused), (JSON_TYPE,))
        label[0] = message.method[:40] if message.method.isprintable() else "?"
        return await _message_answer(message, request, settings, caller, request_id)

    def _request_id(self, request: Request) -> str:
        given = request.headers.get("x-request-id", "")
        return given if _REQUEST_ID.fullmatch(given) else self._ids.mint(REQUEST)


def build_mcp_app(read_settings: Callable[[], Gateway] = gateway) -> McpApp:
    """Return the application of the MCP paths.

    Args:
        read_settings: called for each request, so that a change holds at once.
    """
    return McpApp(read_settings)


async def _message_answer(
    message: Message, request: Request, settings: Gateway, caller: Caller, request_id: str
) -> Answer:
    try:
        era = era_of(message, request.headers)
    except Refused as refused:
        return Answer(refused.status or 400, error_body(refused), (JSON_TYPE,))
    if message.id is None:
        return Answer(202)
    visit = Visit(caller=caller, era=era, request=request, gateway=settings, request_id=request_id)
    try:
        result = await answer(visit, message.method, message.params)
    except Refused as refused:
        refused.id = message.id
        status = refused.status or (400 if era.modern else 200)
        return Answer(status, error_body(refused), (JSON_TYPE,))
    return Answer(200, result_body(message.id, result), (JSON_TYPE,))


def _caller_of(request: Request) -> Caller:
    entrance = door()
    token = bearer_token(request.headers.get("authorization"))
    return authenticate(token, clock=entrance.clock, local=entrance.local)


async def _read_body(receive: Receive, max_body: int) -> bytes | Answer:
    """Return the body, or the refusal of one that is too long or too slow."""
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(_BODY_SECS):
            while True:
                event = await receive()
                if event["type"] == "http.disconnect":
                    raise ClientGone
                piece = event.get("body", b"")
                size += len(piece)
                if size > max_body:
                    return too_large(max_body)
                pieces.append(piece)
                if not event.get("more_body", False):
                    return b"".join(pieces)
    except TimeoutError:
        text = f"The body did not come within {_BODY_SECS} seconds; send it again."
        return refusal_answer(408, "too_slow", text, rpc_code=INVALID_REQUEST)


async def _send(reply: Answer, request_id: str, send: Send) -> None:
    headers = [
        (b"content-length", str(len(reply.body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", request_id.encode()),
        *reply.headers,
    ]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})
