"""A lean HTTP/1.1 client: the clients share the machine with the server they measure."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_TIMEOUT: Final = 60.0
_LATEST_MCP: Final = "2025-11-25"


class Refused(Exception):
    """The server answered with an error, or not at all."""


@dataclass(slots=True)
class Connection:
    """One kept-alive connection, used by one task."""

    host: str
    port: int
    _reader: asyncio.StreamReader | None = None
    _writer: asyncio.StreamWriter | None = None

    async def post(
        self, path: str, body: bytes, *, headers: tuple[tuple[str, str], ...] = ()
    ) -> bytes:
        """Send JSON and return the answer's body.

        Raises:
            Refused: the status is none of success.
        """
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(
                self.host, self.port, limit=2**24
            )
        lines = [
            f"POST {path} HTTP/1.1",
            f"host: {self.host}:{self.port}",
            "content-type: application/json",
            "accept: application/json, text/event-stream",
            f"content-length: {len(body)}",
            *(f"{name}: {value}" for name, value in headers),
        ]
        self._writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        status, answer = await asyncio.wait_for(self._answer(), _TIMEOUT)
        if status >= 300:
            message = f"POST {path} answered {status}: {answer[:300].decode(errors='replace')}"
            raise Refused(message)
        return answer

    async def close(self) -> None:
        """End the connection."""
        if self._writer is not None:
            self._writer.close()
            await self._writer.wait_closed()

    async def _answer(self) -> tuple[int, bytes]:
        assert self._reader is not None
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        status = int(head.split(" ", 2)[1])
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        if fields.get("transfer-encoding") == "chunked":
            return status, await self._chunks()
        return status, await self._reader.readexactly(int(fields.get("content-length", "0")))

    async def _chunks(self) -> bytes:
        assert self._reader is not None
        parts = []
        while size := int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16):
            parts.append(await self._reader.readexactly(size))
            await self._reader.readexactly(2)
        await self._reader.readexactly(2)
        return b"".join(parts)


def episodes_body(bodies: Sequence[str], *, prefix: str) -> bytes:
    """Return a batch of notes as `POST /episodes` takes it."""
    episodes = [
        {
            "source": f"note:{prefix}/{place}",
            "body": body,
            "occurred_at": 1_796_083_200_000_000,
            "acl": ["*"],
        }
        for place, body in enumerate(bodies)
    ]
    return json.dumps({"episodes": episodes}).encode()


def remember_body(body: str, *, source: str) -> bytes:
    """Return one note as `POST /remember` takes it."""
    return json.dumps({"source": source, "body": body}).encode()


def search_body(query: str) -> bytes:
    """Return a search as `POST /search` takes it."""
    return json.dumps({"query": query, "k": 10}).encode()


async def remember_over_mcp(connection: Connection, body: str, *, source: str, query: str) -> None:
    """Call the tool `remember_memory` in the handshake era, which needs no session here.

    Raises:
        Refused: the tool answered with an error.
    """
    request = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "remember_memory", "arguments": {"source": source, "text": body}},
    }
    answer = await connection.post(
        f"/mcp?{query}",
        json.dumps(request).encode(),
        headers=(("mcp-protocol-version", _LATEST_MCP),),
    )
    told = json.loads(answer)
    if "error" in told or told.get("result", {}).get("isError"):
        message = f"remember_memory answered {json.dumps(told)[:300]}"
        raise Refused(message)
