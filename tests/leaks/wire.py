"""The whole server in process, asked without a client library: thousands of calls are quick."""

import asyncio
import json
from collections.abc import Mapping, MutableMapping
from typing import Any

from ampup_site.asgi import Root

_loop = asyncio.new_event_loop()
_server = Root()


def exchange(
    method: str, address: str, *, headers: Mapping[str, str], body: Mapping[str, Any] | None = None
) -> tuple[int, list[tuple[str, str]], str]:
    """Return status, headers and text of the answer to one request."""
    return _loop.run_until_complete(_exchange(method, address, headers, body))


async def _exchange(
    method: str, address: str, headers: Mapping[str, str], body: Mapping[str, Any] | None
) -> tuple[int, list[tuple[str, str]], str]:
    path, _, query = address.partition("?")
    content = b"" if body is None else json.dumps(body).encode()
    sent = {"host": "testserver", "accept": "application/json, text/event-stream"}
    if body is not None:
        sent |= {"content-type": "application/json", "content-length": str(len(content))}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(k.encode(), v.encode()) for k, v in {**sent, **headers}.items()],
        "client": ("127.0.0.1", 50_000),
        "server": ("testserver", 80),
    }
    answered = asyncio.Event()
    events: list[MutableMapping[str, Any]] = [{"type": "http.request", "body": content}]
    got: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        if events:
            return events.pop()
        await answered.wait()
        return {"type": "http.disconnect"}

    async def send(event: MutableMapping[str, Any]) -> None:
        got.append(event)

    await _server(scope, receive, send)
    answered.set()
    head = next(event for event in got if event["type"] == "http.response.start")
    text = b"".join(event.get("body", b"") for event in got).decode()
    pairs = [(name.decode().lower(), value.decode()) for name, value in head["headers"]]
    return head["status"], pairs, text
