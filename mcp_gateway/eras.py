"""The two eras of the protocol: which one a message belongs to, and what each demands.

Modern requests stand alone and carry everything; legacy ones open with `initialize`. Neither
has a session here.

Source: MCP 2026-07-28, "Versioning" and "Streamable HTTP"; specification, section 14.1.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    PROTOCOL_VERSION_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
)

from mcp_gateway.json_rpc import Message, MessageId, Refused

MODERN: Final = ("2026-07-28",)
LEGACY: Final = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Newest first; 2024-11-05 had another transport, which is not served."""

SERVED: Final = MODERN + LEGACY

_VERSION_HEADER: Final = "mcp-protocol-version"
_METHOD_HEADER: Final = "mcp-method"
_NAME_HEADER: Final = "mcp-name"
_NAMED_BY: Final[Mapping[str, str]] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
}
_ONLY_MODERN: Final = frozenset({"server/discover", "subscriptions/listen"})


@dataclass(frozen=True, slots=True)
class Era:
    """The revision a message is answered in."""

    version: str

    @property
    def modern(self) -> bool:
        """Whether the request stands alone, as since 2026-07-28."""
        return self.version in MODERN


def era_of(message: Message, headers: Mapping[str, str]) -> Era:
    """Return the era of a message whose marks are as that era wants them.

    Raises:
        Refused: a version that is not served, a missing mark, or header and body that differ.
    """
    header = headers.get(_VERSION_HEADER)
    meta = message.params.get("_meta")
    marked = isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta
    if message.id is None:
        return _era_of_notification(header)
    if marked or header in MODERN or message.method in _ONLY_MODERN:
        return _modern(message, headers, meta)
    if header is not None and header not in LEGACY and message.method != "initialize":
        raise _unsupported(header, SERVED, message.id)
    return Era(header if header in LEGACY else LEGACY[-1])


def negotiated(requested: object) -> str:
    """Return the version that `initialize` answers: the asked one, else our newest legacy."""
    return requested if isinstance(requested, str) and requested in LEGACY else LEGACY[0]


def _era_of_notification(header: str | None) -> Era:
    if header is not None and header not in SERVED:
        raise _unsupported(header, SERVED, None)
    return Era(header or LEGACY[-1])


def _modern(message: Message, headers: Mapping[str, str], meta: object) -> Era:
    if not isinstance(meta, dict):
        raise _bad_meta("`params._meta` must be an object", message)
    for key in (PROTOCOL_VERSION_META_KEY, CLIENT_CAPABILITIES_META_KEY):
        if key not in meta:
            raise _bad_meta(f"`params._meta` must have `{key}`", message)
    version = meta[PROTOCOL_VERSION_META_KEY]
    if not isinstance(version, str):
        raise _bad_meta(f"`{PROTOCOL_VERSION_META_KEY}` must be a text", message)
    if not isinstance(meta[CLIENT_CAPABILITIES_META_KEY], dict):
        raise _bad_meta(f"`{CLIENT_CAPABILITIES_META_KEY}` must be an object", message)
    _compare("MCP-Protocol-Version", headers.get(_VERSION_HEADER), version, message)
    if version not in MODERN:
        raise _unsupported(version, MODERN, message.id)
    _compare("Mcp-Method", headers.get(_METHOD_HEADER), message.method, message)
    named_by = _NAMED_BY.get(message.method)
    name: Any = message.params.get(named_by) if named_by is not None else None
    if isinstance(name, str):
        _compare("Mcp-Name", _decoded(headers.get(_NAME_HEADER)), name, message)
    return Era(version)


def _compare(header: str, given: str | None, expected: str, message: Message) -> None:
    if given == expected:
        return
    text = f"The header `{header}` must be there and say what the body says."
    raise Refused(HEADER_MISMATCH, text, status=400, id=message.id)


def _decoded(value: str | None) -> str | None:
    """Return a header's text, out of `=?base64?…?=` where it is in that; None if it is broken."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _bad_meta(text: str, message: Message) -> Refused:
    return Refused(INVALID_PARAMS, f"{text}.", status=400, id=message.id)


def _unsupported(version: str, served: Sequence[str], id_: MessageId | None) -> Refused:
    return Refused(
        UNSUPPORTED_PROTOCOL_VERSION,
        f"This protocol version is not served; the served ones are {', '.join(served)}.",
        status=400,
        details={"supported": list(served), "requested": version[:60]},
        id=id_,
    )
