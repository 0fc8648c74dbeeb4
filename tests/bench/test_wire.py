"""The lean client reads what an HTTP server may answer."""

import asyncio
import json

import pytest

from bench.batch import MAP, connection_budget
from bench.wire import Connection, Refused, episodes_body

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
CHUNKED = (
    b"HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1,\r\n2\r\n2]\r\n0\r\n\r\n"
)
BUSY = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\n\r\nbusy"


async def _talk(answers: list[bytes]) -> tuple[list[bytes], list[str]]:
    """Post once for each answer on one connection; return the bodies and the requests seen."""
    seen: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for raw in answers:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            size = int(head.split("content-length: ")[1].split("\r\n")[0])
            seen.append(head.split("\r\n")[0] + " " + (await reader.readexactly(size)).decode())
            writer.write(raw)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        connection = Connection("127.0.0.1", server.sockets[0].getsockname()[1])
        try:
            bodies = [await connection.post("/x", b"{}") for _ in answers]
        finally:
            await connection.close()
    return bodies, seen


def test_one_connection_is_kept_for_plain_and_chunked_answers() -> None:
    """Ours: opening a connection a request would be measured as the server's cost."""
    bodies, seen = asyncio.run(_talk([PLAIN, CHUNKED]))
    assert bodies == [b"{}", b"[1,2]"]
    assert seen == ["POST /x HTTP/1.1 {}"] * 2


def test_an_error_is_never_counted_as_an_acknowledged_write() -> None:
    """Ours: a server that refuses quickly must not look fast."""
    with pytest.raises(Refused, match="503: busy"):
        asyncio.run(_talk([BUSY]))


def test_a_batch_names_its_notes_apart() -> None:
    """Ours: two equal sources and bodies would be one episode."""
    told = json.loads(episodes_body(["one", "two"], prefix="p"))
    assert [episode["source"] for episode in told["episodes"]] == ["note:p/0", "note:p/1"]


def test_the_budget_of_connections_is_read_from_the_architecture_page() -> None:
    """Documented: the numbers of connections stand in one table of ARCHITECTURE.md."""
    budget = connection_budget(MAP.read_text())
    assert budget is not None
    assert 10 <= budget <= 60
