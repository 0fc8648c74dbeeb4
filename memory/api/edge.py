"""The crossing of REST: who asks and where, a service in the bounded pool, its answer as JSON.

A write holds a thread and a connection while its service prepares it, and neither while it
waits for its landing.
"""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import orjson
from django.http import HttpRequest, HttpResponse

from accounts.api.auth import caller_of, scope_of
from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from accounts.wiring import gate
from ampup_site.kernel.errors import AmpUpError, ErrorKind
from ampup_site.kernel.threads import pool
from memory.api.answers import Answer
from memory.api.body import Shape, read_content, read_json, read_shape
from memory.api.parameters import check_parameters
from memory.domain.pending import Pending
from memory.engine import Engine
from memory.services.idempotency import (
    Claim,
    KeptAnswer,
    claim_key,
    keep_answer,
    release_key,
)
from memory.wiring import engine

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, its caller and the scope it means."""

    request: HttpRequest
    engine: Engine
    caller: Caller
    scope: Scope

    def json(self) -> object:
        """Return the request's JSON value."""
        return read_json(self.request, limit=gate().max_body)

    def body(self, shape: type[Shape], *, listed_as: str | None = None) -> Shape:
        """Return the request's JSON object as `shape`.

        Args:
            listed_as: the field that a bare list is taken for.
        """
        value = self.json()
        if listed_as is not None and isinstance(value, list):
            value = {listed_as: value}
        return read_shape(value, shape)

    def has_body(self) -> bool:
        """Tell whether there is anything to read."""
        return bool(read_content(self.request, limit=gate().max_body))


@dataclass(frozen=True, slots=True)
class Written(Generic[T]):
    """A write that a service has taken, and how its answer reads."""

    pending: Pending[T]
    answer: Callable[[T], Answer]


@dataclass(frozen=True, slots=True)
class Accepted:
    """Work that goes on after the answer: 202."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class _Taken(Generic[T]):
    written: Written[T]
    claim: Claim | None


async def read(
    request: HttpRequest, service: Callable[[Ask], Answer], *parameters: str
) -> HttpResponse:
    """Answer a read.

    Args:
        service: runs in the pool.
        parameters: what the URL may name beside the scope.
    """
    return await pool().run(_read, request, service, parameters)


async def write(
    request: HttpRequest, service: Callable[[Ask], Written[T] | Accepted]
) -> HttpResponse:
    """Answer a write once it has landed, under its `Idempotency-Key` if it has one."""
    taken = await pool().run(_take, request, service)
    if not isinstance(taken, _Taken):
        return json_response(taken.content.encode(), status=taken.status)
    content = orjson.dumps(await _landed(taken))
    if taken.claim is not None:
        await pool().run(keep_answer, taken.claim, KeptAnswer(200, content.decode()))
    return json_response(content)


def json_response(content: bytes, *, status: int = 200) -> HttpResponse:
    """Return JSON that no cache keeps."""
    headers = {"Cache-Control": "no-store", "Content-Length": str(len(content))}
    return HttpResponse(content, status=status, content_type="application/json", headers=headers)


def _asked(request: HttpRequest, *parameters: str) -> Ask:
    caller = caller_of(request)
    check_parameters(request, *parameters)
    return Ask(request, engine(), caller, scope_of(request, caller))


def _read(
    request: HttpRequest, service: Callable[[Ask], Answer], parameters: tuple[str, ...]
) -> HttpResponse:
    return json_response(orjson.dumps(service(_asked(request, *parameters))))


def _take(
    request: HttpRequest, service: Callable[[Ask], Written[T] | Accepted]
) -> _Taken[T] | KeptAnswer:
    ask = _asked(request)
    claim = _claim(ask)
    if claim is not None:
        kept = claim_key(claim, clock=ask.engine.clock)
        if kept is not None:
            return kept
    try:
        taken = service(ask)
    except AmpUpError:
        if claim is not None:
            release_key(claim)
        raise
    if isinstance(taken, Written):
        return _Taken(taken, claim)
    answer = KeptAnswer(202, orjson.dumps(taken.answer).decode())
    if claim is not None:
        keep_answer(claim, answer)
    return answer


async def _landed(taken: _Taken[T]) -> Answer:
    waiting: Awaitable[T] = taken.written.pending
    try:
        return taken.written.answer(await waiting)
    except AmpUpError as error:
        # Where the outcome is unknown the key stays claimed by this very request.
        if taken.claim is not None and error.kind is not ErrorKind.UNAVAILABLE:
            await pool().run(release_key, taken.claim)
        raise


def _claim(ask: Ask) -> Claim | None:
    key = ask.request.headers.get("idempotency-key")
    if key is None:
        return None
    digest = hashlib.sha256()
    for part in (ask.request.method, ask.request.path.rstrip("/"), ask.scope.namespace):
        digest.update(f"{part}\n".encode(errors="surrogatepass"))
    digest.update(read_content(ask.request, limit=gate().max_body))
    owner = ask.caller.key_id or ask.caller.author
    return Claim(owner=owner, key=key, digest=digest.hexdigest())
