"""A client of the MCP application in process: raw HTTP, and both eras in a few words."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from accounts.domain.roles import Action
from ampup_site.kernel.errors import BadRequest
from mcp_gateway.asgi import McpApp, build_mcp_app
from mcp_gateway.eras import LEGACY, MODERN
from mcp_gateway.listing import TOOLS, Catalogue
from mcp_gateway.tools.arguments import Argument, Kind
from mcp_gateway.tools.tool import Tool, ToolAnswer, ToolCall, text
from mcp_gateway.wiring import Gateway

HOSTS = ("127.0.0.1", "localhost", "[::1]", "memory.example")


@dataclass(frozen=True, slots=True)
class Wire:
    """One client; `key` is sent with every request."""

    app: McpApp
    key: str | None = None
    path: str = "/mcp"

    def at(self, path: str) -> "Wire":
        return replace(self, path=path)

    def post(self, body: object, **options: Any) -> httpx.Response:
        return self.send("POST", body, **options)

    def send(
        self, method: str, body: object = None, *, headers: Mapping[str, str | None] | None = None
    ) -> httpx.Response:
        """Return the answer; a header of None is not sent at all."""
        return asyncio.run(self.asend(method, body, headers=headers))

    async def asend(
        self, method: str, body: object = None, *, headers: Mapping[str, str | None] | None = None
    ) -> httpx.Response:
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            sent = {"content-type": "application/json", **(headers or {})}
            if self.key is not None:
                sent.setdefault("authorization", f"Bearer {self.key}")
            if isinstance(body, bytes):
                request = client.build_request(method, self.path, content=body)
            elif body is None:
                request = client.build_request(method, self.path)
            else:
                request = client.build_request(method, self.path, json=body)
            for name, value in sent.items():
                request.headers.pop(name, None)
                if value is not None:
                    request.headers[name] = value
            if "accept" not in sent:
                request.headers["accept"] = "application/json, text/event-stream"
            elif sent["accept"] is None:
                request.headers.pop("accept", None)
            return await client.send(request)

    def legacy(self, method: str, params: object = None, **options: Any) -> Any:
        """Return the JSON of a request of the newest legacy era."""
        return self.post(legacy(method, params), **options).json()

    def modern(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON of a request of the modern era."""
        body, headers = modern(method, params)
        return self.post(body, headers=headers).json()

    def call(self, tool: str, arguments: object, *, era: str = "legacy") -> Any:
        """Return the result of a tool's call, without what only one era has."""
        params = {"name": tool, "arguments": arguments}
        answer = self.modern("tools/call", params) if era == "modern" else None
        answer = answer or self.legacy("tools/call", params)
        if "result" not in answer:
            return answer
        result = answer["result"]
        return {k: v for k, v in result.items() if k not in {"_meta", "resultType"}}

    def tools(self) -> list[Any]:
        """Return what `tools/list` shows."""
        listed: list[Any] = self.legacy("tools/list")["result"]["tools"]
        return listed


def legacy(method: str, params: object = None) -> dict[str, Any]:
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "method": method}
    return body if params is None else {**body, "params": params}


def modern(
    method: str, params: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], dict[str, str | None]]:
    """Return a modern request's body and the headers it demands."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN[0],
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    }
    headers: dict[str, str | None] = {
        "mcp-protocol-version": MODERN[0],
        "mcp-method": method,
    }
    named = (params or {}).get("name") or (params or {}).get("uri")
    if named is not None:
        headers["mcp-name"] = str(named)
    return legacy(method, {**(params or {}), "_meta": meta}), headers


def an_app(*tools: Tool, names: Sequence[str] = (), **changes: Any) -> McpApp:
    """Return an application with the real tools, or with these instead."""
    settings = Gateway(
        hosts=HOSTS,
        max_body=2**16,
        max_depth=32,
        catalogue=Catalogue(tools=tools or TOOLS, names=names),
    )
    return build_mcp_app(lambda: replace(settings, **changes))


async def _echo(call: ToolCall) -> ToolAnswer:
    said = str(call.arguments["text"])
    if said == "refuse":
        raise BadRequest("`body` must say something else.", field="body")
    if said == "fail":
        raise RuntimeError("secret-of-the-server")
    return ToolAnswer(text=said, values={"said": said, "scope": call.scope.spelling})


@dataclass(frozen=True, slots=True)
class Echo:
    """Makes tools that answer what they are told and touch nothing."""

    changes: Mapping[str, Any] = field(default_factory=dict)

    def tool(self) -> Tool:
        echo = Tool(
            name="echo",
            title="Echo",
            description="Says what it is told.",
            action=Action.READ,
            read_only=True,
            destructive=False,
            idempotent=True,
            arguments=(
                Argument("text", Kind.TEXT, "What to say.", required=True),
                Argument("times", Kind.WHOLE, "1 to 3.", low=1, high=3),
                Argument("tags", Kind.TEXTS, "Labels."),
                Argument("mode", Kind.TEXT, "How.", choices=("loud", "low"), listed=False),
            ),
            output={"said": text("What was said."), "scope": text("Where.")},
            run=_echo,
            later=frozenset({"as_of"}),
            renamed={"body": "text"},
        )
        return replace(echo, **self.changes)


def an_echo(**changes: Any) -> Tool:
    return Echo(changes).tool()


ALL_LEGACY = LEGACY
