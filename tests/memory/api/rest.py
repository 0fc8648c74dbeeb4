"""REST in process: the very application that `serve` runs, without a socket."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import httpx
from django.core.handlers.asgi import ASGIHandler

from ampup_site.middleware import Surrounded

NOTE = {"source": "acme", "body": "The Acme renewal is owned by Priya."}
EPISODE = {
    "source": "gong:1",
    "body": "Priya: I own the renewal.\nSam: Good.",
    "occurred_at": 1_774_966_930_123_456,
    "acl": ["*"],
}


@dataclass(frozen=True, slots=True)
class Rest:
    """One caller's conversation; without a key it is the owner of a local server, or nobody."""

    key: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def send(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Return the answer to one request."""
        return asyncio.run(self.sending(method, path, **request))

    async def sending(self, method: str, path: str, **request: Any) -> httpx.Response:
        headers = {**self.headers, **request.pop("headers", {})}
        if self.key is not None:
            headers["authorization"] = f"Bearer {self.key}"
        transport = httpx.ASGITransport(app=Surrounded(ASGIHandler()))  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            return await client.request(method, path, headers=headers, **request)

    def call(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> tuple[int, dict[str, Any]]:
        """Return status and JSON of one request; text and bytes are sent as they are."""
        content = {} if body is None else _content(body)
        kind = {"content-type": "application/json"} if content else {}
        response = self.send(method, path, headers={**kind, **headers}, **content)
        return response.status_code, response.json()

    def done(self, method: str, path: str, body: object = None, **headers: str) -> dict[str, Any]:
        """Return the JSON of a request that must succeed."""
        status, answer = self.call(method, path, body, **headers)
        assert status in (200, 202), answer
        return answer

    def refusal(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> tuple[int, str, str | None]:
        """Return status, code and field of a request that must be refused."""
        status, answer = self.call(method, path, body, **headers)
        assert set(answer) == {"error"}, answer
        error = answer["error"]
        assert set(error) <= {"code", "message", "field", "detail"}
        return status, error["code"], error.get("field")

    def remember(self, body: str = NOTE["body"], **fields: object) -> str:
        """Keep a note and return its id."""
        return str(self.done("POST", "/remember", {**NOTE, "body": body, **fields})["episode_id"])

    def passages(self, text: str, **fields: object) -> list[str]:
        """Return the texts of the passages found."""
        answer = self.done("POST", "/query", {"find": "passages", "text": text, **fields})
        return [passage["text"] for passage in answer["results"]]


def _content(body: object) -> dict[str, bytes]:
    if isinstance(body, bytes):
        return {"content": body}
    return {"content": (body if isinstance(body, str) else json.dumps(body)).encode()}
