"""One HTTP request as values, and the answer to it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qs

_MOST_PARAMETERS: Final = 100

JSON_TYPE: Final = (b"content-type", b"application/json")


@dataclass(frozen=True, slots=True)
class Request:
    """A request's head.

    Args:
        headers: names in lower case; the values of a repeated one are joined by `, `.
        query: every value of each parameter, in order, blank ones too; empty if there are
            too many to be read.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    query: Mapping[str, tuple[str, ...]]
    crowded: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back; an empty body has no content type."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = field(default=())


def request_of(scope: Mapping[str, Any]) -> Request:
    """Return the head of an ASGI HTTP scope."""
    query = scope.get("query_string", b"").decode("ascii", "replace")
    crowded = query.count("&") >= _MOST_PARAMETERS
    fields = {} if crowded else parse_qs(query, keep_blank_values=True)
    return Request(
        method=scope["method"],
        path=scope["path"],
        headers=_headers(scope["headers"]),
        query={name: tuple(values) for name, values in fields.items()},
        crowded=crowded,
    )


def _headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name = raw_name.decode("latin-1").lower()
        value = raw_value.decode("latin-1").strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers
