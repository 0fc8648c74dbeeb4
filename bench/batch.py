"""batch: how many writes a landing takes when many write at once, and on how many connections."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Final

import psycopg

from bench.corpus import NOTE_BYTES, TextSource
from bench.notes import fresh_scope
from bench.report import Result, value_at_least, value_at_most
from bench.server import Server, serving
from bench.store import Store
from bench.wire import Connection, remember_body, remember_over_mcp

_WRITERS: Final = 64
_WARM_UP_SECS: Final = 3.0
_SAMPLE_SECS: Final = 0.05
MAP: Final = Path(__file__).resolve().parent.parent / "ARCHITECTURE.md"
_TOTAL: Final = re.compile(r"^\| \**a server process at most\** \| \**(\d+)", re.MULTILINE)


def run(store: Store) -> list[Result]:
    """Let half of the writers speak MCP and half REST, each its next note after the last answer."""
    seconds = 5.0 if store.small else 20.0
    scope = fresh_scope("batch")
    query = f"org={scope.org}&team={scope.team}"
    log = store.folder / "server.log"
    with serving(dsn=store.dsn, data_dir=store.data_dir, log=log) as server:
        asyncio.run(_write(server, query, _WARM_UP_SECS, "warm"))
        with psycopg.connect(store.server.dsn, autocommit=True) as watch:
            before = _newest(store)
            with _most_connections(watch, store.database) as most:
                written = asyncio.run(_write(server, query, seconds, "batch"))
    landings = _landings(store, before)
    budget = connection_budget(MAP.read_text()) if MAP.exists() else None
    return [
        Result("batch", written / landings, "writes/landing", None, value_at_least(16)),
        Result(
            "batch.connections",
            max(most),
            "connections",
            None,
            None if budget is None else value_at_most(budget),
        ),
        Result("batch.writes", written / seconds, "writes/s"),
    ]


async def _write(server: Server, query: str, seconds: float, prefix: str) -> int:
    """Return how many notes were acknowledged in the time, a few after it included."""
    texts = TextSource(stream=50 + len(prefix)).iter_texts(1_000_000, NOTE_BYTES)
    end = monotonic() + seconds
    writers = (
        _one_writer(server.connection(), writer, texts, f"{prefix}/{writer}", query, end)
        for writer in range(_WRITERS)
    )
    return sum(await asyncio.gather(*writers))


async def _one_writer(
    connection: Connection, writer: int, texts: Iterator[str], prefix: str, query: str, end: float
) -> int:
    written = 0
    while monotonic() < end:
        text, name = next(texts), f"{prefix}/{written}"
        if writer % 2:
            await remember_over_mcp(connection, text, source=name, query=query)
        else:
            await connection.post(f"/remember?{query}", remember_body(text, source=name))
        written += 1
    await connection.close()
    return written


@contextmanager
def _most_connections(watch: psycopg.Connection, database: str) -> Iterator[list[int]]:
    """Count the server's connections again and again until the block ends."""
    counts: list[int] = []
    done = Event()

    def count() -> None:
        while not done.wait(_SAMPLE_SECS):
            row = watch.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = %s AND backend_type = 'client backend'",
                (database,),
            ).fetchone()
            counts.append(int(row[0]) if row else 0)

    counter = Thread(target=count)
    counter.start()
    try:
        yield counts
    finally:
        done.set()
        counter.join()


def _newest(store: Store) -> int:
    """Return the newest seq."""
    with psycopg.connect(store.dsn) as connection:
        row = connection.execute(
            "SELECT seq FROM ampup_index.ledger_head WHERE state = 'live'"
        ).fetchone()
    assert row is not None
    return int(row[0])


def _landings(store: Store, since: int) -> int:
    """Return how many landings made the commits after a seq: each gave its batch one id."""
    with psycopg.connect(store.dsn) as connection:
        row = connection.execute(
            "SELECT count(DISTINCT batch_id) FROM ampup_index.commits AS held"
            " JOIN ampup_index.ledger_head AS head USING (generation)"
            " WHERE head.state = 'live' AND held.seq > %s",
            (since,),
        ).fetchone()
    assert row is not None
    return int(row[0])


def connection_budget(page: str) -> int | None:
    """Return the total of the table of connections on the architecture's page."""
    found = _TOTAL.search(page)
    return int(found[1]) if found else None
