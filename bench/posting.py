"""Many clients posting batches over REST at once."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from bench.server import Server
from bench.wire import Connection, Refused, episodes_body, search_body


@dataclass(frozen=True, slots=True)
class Batch:
    """A request that is ready to be sent: encoding it is not the server's cost."""

    path: str
    body: bytes


def batches(texts: Sequence[str], *, size: int, scope: str, prefix: str) -> list[Batch]:
    """Return texts as batches for one scope, named by its spelling."""
    path = f"/episodes?scope={scope}"
    return [
        Batch(path, episodes_body(texts[start : start + size], prefix=f"{prefix}/{start}"))
        for start in range(0, len(texts), size)
    ]


def post_all(server: Server, clients: Sequence[Sequence[Batch]]) -> float:
    """Let each client post its batches one after another; return the seconds until all are in.

    Raises:
        Refused: one of them was not acknowledged.
    """
    return asyncio.run(_post_all(server, clients))


async def _post_all(server: Server, clients: Sequence[Sequence[Batch]]) -> float:
    connections = [server.connection() for _ in clients]
    began = perf_counter()
    await asyncio.gather(
        *(_post(connection, line) for connection, line in zip(connections, clients, strict=True))
    )
    seconds = perf_counter() - began
    await asyncio.gather(*(connection.close() for connection in connections))
    return seconds


async def _post(connection: Connection, line: Sequence[Batch]) -> None:
    for batch in line:
        await connection.post(batch.path, batch.body)


def check_searchable(server: Server, text: str, *, scope: str) -> None:
    """Find a note that was just acknowledged.

    Raises:
        Refused: a search for its own words does not find it.
    """
    asyncio.run(_check_searchable(server, text, scope))


async def _check_searchable(server: Server, text: str, scope: str) -> None:
    connection = server.connection()
    answer = await connection.post(f"/search?scope={scope}", search_body(text[:200]))
    await connection.close()
    if text[:100] not in answer.decode():
        message = "a note that was acknowledged is not found by its own words"
        raise Refused(message)
