"""One call of the matrix on the wire, and its answer as everything that a caller is told."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from tests.leaks import entries
from tests.leaks.entries import Ask, Entry
from tests.leaks.surfaces import filled
from tests.leaks.wire import exchange
from tests.leaks.world import Who
from tests.mcp_gateway.wire import legacy, modern

_CHANGING = re.compile(r"req_[0-9A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Answer:
    """All of an answer; what differs from request to request has been taken out."""

    status: int
    head: str
    body: str

    @property
    def whole(self) -> str:
        return f"{self.status}\n{self.head}\n{self.body}"

    @property
    def code(self) -> str | int | None:
        """What kind of refusal it is, None if it is none; -32602 and the like are MCP's own."""
        value = self.json() if self.body else {}
        if not isinstance(value, dict):
            return None
        result = value.get("result", value)
        tool = result.get("structuredContent", {}) if isinstance(result, dict) else {}
        error = value.get("error") or tool.get("error") or {}
        return error.get("data", {}).get("code") or error.get("code")

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Call:
    """A way to reach one entry: over REST, or over MCP in one of the eras."""

    name: str
    entry: Entry
    era: str | None = None

    @override
    def __str__(self) -> str:
        return f"{self.era or 'rest'} {self.name}"

    @property
    def is_tool(self) -> bool:
        return self.name in entries.TOOLS

    def send(self, who: Who, ask: Ask, *, query: str = "", **headers: str) -> Answer:
        if self.era is None:
            return self._rest(who, ask, query, headers)
        return self._mcp(who, ask, query, headers)

    def _rest(self, who: Who, ask: Ask, query: str, headers: dict[str, str]) -> Answer:
        path = filled(self.name, **ask.names) + query
        method = self.name.partition(" ")[0]
        return _answer(method, path, headers={**_signed(who), **headers}, body=ask.body)

    def _mcp(self, who: Who, ask: Ask, query: str, headers: dict[str, str]) -> Answer:
        given = dict(ask.body or {})
        method, params = self.name.partition(" ")[2] or self.name, given
        if self.is_tool:
            method, params = "tools/call", {"name": self.name, "arguments": given}
        marks: Mapping[str, str | None] = {}
        body = legacy(method, params)
        if self.era == "modern":
            body, marks = modern(method, params)
        kept = {name: value for name, value in marks.items() if value is not None}
        sent = {**_signed(who), **kept, **headers}
        return _answer("POST", f"/mcp{query}", headers=sent, body=body)


def calls() -> Iterator[Call]:
    """Return every way to reach every entry."""
    for name, entry in entries.ROUTES.items():
        yield Call(name, entry)
    for name, entry in entries.TOOLS.items():
        yield Call(name, entry, "legacy")
        yield Call(name, entry, "modern")
    for name, entry in entries.RPC.items():
        yield Call(name, entry, name.partition(" ")[0])


def _signed(who: Who) -> dict[str, str]:
    return {} if who.key is None else {"authorization": f"Bearer {who.key}"}


def _answer(
    method: str, address: str, *, headers: Mapping[str, str], body: Mapping[str, Any] | None
) -> Answer:
    status, pairs, text = exchange(method, address, headers=headers, body=body)
    kept = sorted(
        f"{name}: {value}"
        for name, value in pairs
        if name not in {"x-request-id", "content-length"}
    )
    return Answer(status, "\n".join(kept), _CHANGING.sub("req_", text))
