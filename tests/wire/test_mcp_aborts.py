"""Clients that hang up, over real sockets: the server stays well, and no write is half there."""

import asyncio
import json
import logging
import socket
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
import uvicorn
from django.conf import settings
from pytest_django import Settings

from mcp_gateway.asgi import build_mcp_app
from memory.engine import Engine

ABORTS = 500
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close with RST


@dataclass(frozen=True, slots=True)
class Server:
    """A server on a port of this machine, in a thread of its own."""

    port: int

    async def send(self, message: object, *, cut: int | None = None) -> socket.socket:
        """Send a request, or its first `cut` bytes, and return the open socket."""
        body = json.dumps(message).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        loop = asyncio.get_running_loop()
        sock = socket.socket()
        sock.setblocking(False)
        await loop.sock_connect(sock, ("127.0.0.1", self.port))
        await loop.sock_sendall(sock, (head.encode() + body)[:cut])
        return sock

    async def ask(self, message: object) -> Any:
        """Return the JSON that a whole request is answered with."""
        sock = await self.send(message)
        loop = asyncio.get_running_loop()
        received = b""
        with sock:
            while b"\r\n\r\n" not in received or len(received) < _length(received):
                piece = await loop.sock_recv(sock, 65536)
                assert piece, received
                received += piece
        assert received.startswith(b"HTTP/1.1 200"), received
        return json.loads(received.partition(b"\r\n\r\n")[2])


def _length(received: bytes) -> int:
    head, _, _ = received.partition(b"\r\n\r\n")
    fields = dict(line.split(": ", 1) for line in head.decode().lower().split("\r\n")[1:])
    return len(head) + 4 + int(fields["content-length"])


@pytest.fixture
def server(engine: Engine, settings: Settings) -> Iterator[Server]:
    settings.AMPUP_LOCAL = True
    # The protocol is named, for else asyncio leaves Nagle on and each answer waits for an ACK.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(build_mcp_app(), lifespan="off", ws="none", log_config=None)
        running = uvicorn.Server(config)
        started = threading.Event()
        running.startup = _announcing(running.startup, started)  # type: ignore[method-assign]
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
        thread.start()
        assert started.wait(20)
        yield Server(listening.getsockname()[1])
        running.should_exit = True
        thread.join(20)


def _announcing(startup: Any, started: threading.Event) -> Any:
    async def announce(*args: Any, **kwargs: Any) -> None:
        await startup(*args, **kwargs)
        started.set()

    return announce


def _call(tool: str, **arguments: object) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def test_five_hundred_clients_that_hang_up_harm_nobody(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: 500 aborted calls, then 100 good ones; no error line, no connection kept (case 65)."""
    caplog.set_level(logging.INFO)
    asyncio.run(_good_calls(server, 20))
    before = _connections()

    async def abort(n: int) -> None:
        note = _call("remember_memory", text=f"cut off {n}")
        whole = len(json.dumps(note)) + 1000
        cut = (20, 90, 150, whole)[n % 4]
        message = note if n % 8 < 4 else _call("search_memory", query="cut off", k=200)
        sock = await server.send(message, cut=cut)
        if n % 2:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        sock.close()

    async def abort_all() -> None:
        for start in range(0, ABORTS, 50):
            await asyncio.gather(*(abort(n) for n in range(start, start + 50)))

    asyncio.run(abort_all())
    answers = asyncio.run(_good_calls(server, 100))
    assert all(answer["result"]["isError"] is False for answer in answers)
    errors = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert errors == []
    assert _connections() <= max(before, settings.AMPUP_THREADS + 4)
    found = asyncio.run(server.ask(_call("search_memory", query="cut off", k=200)))
    passages = found["result"]["structuredContent"]["passages"]
    texts = [passage["text"] for passage in passages]
    whole_ones = {f"cut off {n}" for n in range(ABORTS) if n % 8 == 3}
    assert set(texts) <= whole_ones
    assert len(texts) == len(set(texts))


async def _good_calls(server: Server, count: int) -> list[Any]:
    search = _call("search_memory", query="anything")
    return list(await asyncio.gather(*(server.ask(search) for _ in range(count))))


def _connections() -> int:
    with psycopg.connect(settings.AMPUP_DATABASE_DSN) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        ).fetchone()
    assert row is not None
    return int(row[0])
