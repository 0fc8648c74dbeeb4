"""JSON-RPC as this server speaks it: one message in, one answer out, one line an error."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import orjson
from mcp_types import INVALID_REQUEST, PARSE_ERROR

from ampup_site.kernel.json_text import is_crowded

MessageId: TypeAlias = str | int
Params: TypeAlias = Mapping[str, Any]

_SHOWN = 60  # characters of a caller's own word in an error


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or a notification where `id` is None."""

    id: MessageId | None
    method: str
    params: Params


class Refused(Exception):
    """A message answered by a protocol error.

    Args:
        code: JSON-RPC's or the protocol's own, never one of ours.
        status: of the HTTP answer; None leaves it to the era.
        id: of the request, where it could be read.
    """

    def __init__(
        self,
        code: int,
        message: str,
        *,
        status: int | None = None,
        details: Mapping[str, Any] | None = None,
        id: MessageId | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.details = details
        self.id = id


def read_message(body: bytes, *, max_depth: int) -> Message:
    """Return the one request or notification of a body.

    Raises:
        Refused: the body is no JSON, nested deeper than `max_depth`, a batch, a response, or no
            message at all; with its id where that could be read.
    """
    if is_crowded(body):
        raise _invalid("The message holds too many arrays and objects; send less at once.")
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        text = "The body is no JSON that this server reads; send one JSON-RPC object in UTF-8."
        raise Refused(PARSE_ERROR, text, status=400) from None
    if isinstance(value, list):
        raise _invalid("A batch is not taken; send each message in a request of its own.")
    if not isinstance(value, dict):
        raise _invalid("The body must be one JSON-RPC object.")
    id_ = value.get("id")
    known = id_ if _is_id(id_) else None
    if _deeper(value, max_depth):
        raise _invalid(f"The message is nested deeper than {max_depth} levels.", known)
    return _message(value, known)


def _message(value: dict[str, Any], known: MessageId | None) -> Message:
    if value.get("jsonrpc") != "2.0":
        raise _invalid('`jsonrpc` must be "2.0".', known)
    if "id" in value and known is None:
        raise _invalid("`id` must be a text or a whole number; leave it out of a notification.")
    method = value.get("method")
    if method is None and ("result" in value or "error" in value):
        raise _invalid("A response is not taken: this server asks nothing of its clients.", known)
    if not isinstance(method, str) or not method:
        raise _invalid("`method` must be a text.", known)
    params = value.get("params", {})
    if not isinstance(params, dict):
        raise _invalid("`params` must be an object.", known)
    return Message(id=known, method=method, params=params)


def result_body(id_: MessageId, result: Mapping[str, Any]) -> bytes:
    """Return the answer to a request."""
    return orjson.dumps({"jsonrpc": "2.0", "id": id_, "result": result})


def error_body(refused: Refused) -> bytes:
    """Return the answer to a refused message; its `id` is there if it could be read.

    The protocol's schema knows no `"id": null`, so an unknown id is left out.
    """
    error: dict[str, Any] = {"code": refused.code, "message": refused.message}
    if refused.details is not None:
        error["data"] = dict(refused.details)
    known = {} if refused.id is None else {"id": refused.id}
    return orjson.dumps({"jsonrpc": "2.0", **known, "error": error})


def shown(text: str) -> str:
    """Return a caller's own word fit to stand in an error: short, ASCII, quoted."""
    return ascii(text[:_SHOWN])


_ID_LIMIT: Final = 2**53


def _is_id(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, str) or (isinstance(value, int) and abs(value) < _ID_LIMIT)


def _invalid(text: str, known: MessageId | None = None) -> Refused:
    return Refused(INVALID_REQUEST, text, status=400, id=known)


def _deeper(value: object, limit: int) -> bool:
    """Tell whether arrays and objects are nested in more than `limit` levels."""
    level = [value]
    for _ in range(limit):
        level = [child for node in level for child in _children(node)]
        if not level:
            return False
    return True


def _children(node: object) -> list[object]:
    """Return the arrays and objects that an array or object holds."""
    members: Iterable[object] = ()
    if isinstance(node, dict):
        members = node.values()
    elif isinstance(node, list):
        members = node
    return [member for member in members if isinstance(member, dict | list)]
