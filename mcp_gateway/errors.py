"""Kinds of error on this transport: a status for the request, a JSON-RPC code for a message.

An error inside a tool is neither: it is the tool's answer (`mcp_gateway.render`).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST

from ampup_site.kernel.errors import AmpUpError, ErrorKind
from mcp_gateway.json_rpc import Refused, error_body
from mcp_gateway.request import JSON_TYPE, Answer

STATUSES: Final[Mapping[ErrorKind, int]] = MappingProxyType(
    {
        ErrorKind.INVALID: 400,
        ErrorKind.UNPROCESSABLE: 422,
        ErrorKind.TOO_LARGE: 413,
        ErrorKind.UNAUTHENTICATED: 401,
        ErrorKind.FORBIDDEN: 403,
        ErrorKind.NOT_FOUND: 404,
        ErrorKind.CONFLICT: 409,
        ErrorKind.LIMITED: 429,
        ErrorKind.UNAVAILABLE: 503,
    }
)

RPC_CODES: Final[Mapping[ErrorKind, int]] = MappingProxyType(
    {
        ErrorKind.INVALID: INVALID_PARAMS,
        ErrorKind.UNPROCESSABLE: INVALID_PARAMS,
        ErrorKind.TOO_LARGE: INVALID_REQUEST,
        ErrorKind.UNAUTHENTICATED: INVALID_REQUEST,
        ErrorKind.FORBIDDEN: INVALID_REQUEST,
        ErrorKind.NOT_FOUND: INVALID_PARAMS,
        ErrorKind.CONFLICT: INVALID_PARAMS,
        ErrorKind.LIMITED: INVALID_REQUEST,
        ErrorKind.UNAVAILABLE: INTERNAL_ERROR,
    }
)

_EXTRA_HEADERS: Final[Mapping[int, tuple[tuple[bytes, bytes], ...]]] = MappingProxyType(
    {
        401: ((b"www-authenticate", b'Bearer realm="ampup-memory"'),),
        405: ((b"allow", b"POST"),),
        429: ((b"retry-after", b"5"),),
        503: ((b"retry-after", b"5"),),
    }
)


def refusal_answer(status: int, code: str, message: str, *, rpc_code: int) -> Answer:
    """Return the answer to a request refused before, or instead of, its message."""
    refused = Refused(rpc_code, message, details={"code": code})
    extra = _EXTRA_HEADERS.get(status, ())
    return Answer(status, error_body(refused), (JSON_TYPE, *extra))


def error_answer(error: AmpUpError) -> Answer:
    """Return the answer to a request that failed outside a tool."""
    return refusal_answer(
        STATUSES[error.kind], error.code, error.message, rpc_code=RPC_CODES[error.kind]
    )
