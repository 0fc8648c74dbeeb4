"""Errors as HTTP answers: one envelope and one table of statuses for every REST route.

Whatever goes wrong, a caller reads `{"error": {"code", "message", "field"?, "detail"?}}`; what
fails for a reason of the server's own says the request's id and nothing else.
"""

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final

import orjson
from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from django.http.request import UnreadablePostError
from ninja import NinjaAPI
from rest_framework.exceptions import APIException
from rest_framework.response import Response

from accounts.api.outage import DATABASE_DOWN, outage_of
from ampup_site.kernel.clock import SystemClock
from ampup_site.kernel.errors import AmpUpError, BadRequest, ErrorKind, NotFound, TooLarge
from ampup_site.kernel.ids import REQUEST, UlidSource

STATUSES: Final[Mapping[ErrorKind, int]] = MappingProxyType(
    {
        ErrorKind.INVALID: 400,
        ErrorKind.UNAUTHENTICATED: 401,
        ErrorKind.FORBIDDEN: 403,
        ErrorKind.NOT_FOUND: 404,
        ErrorKind.CONFLICT: 409,
        ErrorKind.TOO_LARGE: 413,
        ErrorKind.UNPROCESSABLE: 422,
        ErrorKind.LIMITED: 429,
        ErrorKind.UNAVAILABLE: 503,
    }
)

RETRY_SECS: Final = 5
"""What `Retry-After` says: a landing takes milliseconds, a restart of Postgres seconds."""

EXTRA_HEADERS: Final[Mapping[int, Mapping[str, str]]] = MappingProxyType(
    {
        401: {"WWW-Authenticate": 'Bearer realm="ampup-memory"'},
        429: {"Retry-After": str(RETRY_SECS)},
        503: {"Retry-After": str(RETRY_SECS)},
    }
)

_HEADER: Final = "HTTP_X_REQUEST_ID"
_REQUEST_ID: Final = re.compile(r"[0-9A-Za-z_.-]{1,64}")
_request_ids = UlidSource(SystemClock())


class MethodNotAllowed(AmpUpError):
    """The route is there and does not offer this method."""

    code = "method_not_allowed"


def request_id(request: HttpRequest) -> str:
    """Return the id this request is logged and answered under, which its header has.

    `ampup_site.middleware` sees to that; only a request that came by another way gets one here.
    """
    known = request.META.get(_HEADER, "")
    if not _REQUEST_ID.fullmatch(known):
        known = request.META[_HEADER] = _request_ids.mint(REQUEST)
    return str(known)


def envelope(error: AmpUpError) -> dict[str, object]:
    """Return the body of a refusal.  Source: specification, section 5."""
    fields: dict[str, object] = {"code": error.code, "message": error.message}
    if error.field is not None:
        fields["field"] = error.field
    if error.detail is not None:
        fields["detail"] = error.detail
    return {"error": fields}


def error_response(
    request: HttpRequest, error: AmpUpError, *, status: int | None = None
) -> HttpResponse:
    """Return a refusal as an answer, with the headers that belong to its status."""
    status = STATUSES[error.kind] if status is None else status
    return _answer(request, envelope(error), status)


def method_not_allowed(request: HttpRequest, allowed: Iterable[str]) -> HttpResponse:
    """Return the answer to a method that a route does not offer."""
    offered = ", ".join(sorted(allowed))
    message = f"This route offers {offered}."
    response = error_response(request, MethodNotAllowed(message), status=405)
    response["Allow"] = offered
    return response


def refusal_of(error: BaseException) -> AmpUpError | None:
    """Return an exception as the refusal it means; None if it is a fault of ours."""
    if isinstance(error, AmpUpError):
        return error
    if isinstance(error, Http404):
        return NotFound("There is no such route; /openapi.json lists them.")
    if isinstance(error, RequestDataTooBig):
        return TooLarge("The body is over the limit of one request; send less at once.")
    if isinstance(error, UnreadablePostError):
        return BadRequest("The body ended before its length.")
    return outage_of(error)


def install(api: NinjaAPI) -> None:
    """Make a ninja API answer errors in the one envelope; faults go on to `server_error`."""

    def answer(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
        refusal = refusal_of(error) if isinstance(error, Exception) else None
        if refusal is None:
            raise error
        return error_response(request, refusal)

    for kind in (AmpUpError, Http404, RequestDataTooBig, OSError, *DATABASE_DOWN):
        api.add_exception_handler(kind, answer)


def drf_exception_handler(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """Answer an error of a REST framework view; None hands a fault on to `server_error`."""
    request = context["request"]._request
    refusal = refusal_of(error)
    status = None
    if refusal is None and isinstance(error, APIException):
        status = error.status_code
        refusal = _framework_refusal(error)
    if refusal is None:
        return None
    status = status or STATUSES[refusal.kind]
    return Response(envelope(refusal), status=status, headers=_headers(request, status))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer what Django itself refuses."""
    refusal = refusal_of(exception)
    return error_response(request, refusal or BadRequest("The request is malformed."))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer what Django forbids."""
    del exception
    return error_response(request, BadRequest("The request is forbidden."), status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a path that is no route, `/.well-known/` with its sign-in documents among them."""
    del exception
    message = "There is no such route; /openapi.json lists them."
    return error_response(request, NotFound(message))


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer a fault of ours: its traceback is in the log, under the id this says."""
    identity = request_id(request)
    message = f"The request failed for a reason of the server's; its log has it as {identity}."
    return _answer(request, {"error": {"code": "internal", "message": message}}, 500)


class _Refused(AmpUpError):
    """What the REST framework refuses by itself."""


def _framework_refusal(error: APIException) -> AmpUpError:
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return MethodNotAllowed("This route does not offer the method; see the Allow header.")
    return _Refused(f"The request was refused: {error.default_detail}")


def _answer(request: HttpRequest, body: Mapping[str, object], status: int) -> HttpResponse:
    content = _json(body)
    headers = {"Content-Length": str(len(content)), **_headers(request, status)}
    return HttpResponse(content, status=status, content_type="application/json", headers=headers)


def _headers(request: HttpRequest, status: int) -> dict[str, str]:
    return {
        "x-request-id": request_id(request),
        "Cache-Control": "no-store",
        **EXTRA_HEADERS.get(status, {}),
    }


def _json(value: object) -> bytes:
    # A refused name may hold half a surrogate pair, which is no UTF-8.
    try:
        return orjson.dumps(value)
    except TypeError:
        return orjson.dumps(_speakable(value))


def _speakable(value: object) -> object:
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, Mapping):
        return {str(_speakable(key)): _speakable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_speakable(item) for item in value]
    return value
