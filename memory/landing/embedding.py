"""Gives landed passages their vectors, in the order they landed, outside of every landing.

One process at a time, by a lock that dies with its connection. How far it has come is a ledger
position in the generation's head: behind it every passage has its vectors. A new generation, or a
new embedder, begins at the start, and what is there already is not computed again.
"""

import logging
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import Final

import psycopg

from ampup_site.kernel.errors import AmpUpError
from ampup_site.kernel.failpoints import reach
from memory.embedding.embedder import EmbedderFailed
from memory.embedding.meaning import Meaning
from memory.landing.transaction import NOTIFY_CHANNEL
from memory.search.database import IndexDatabase
from memory.search.heads import Head, live_head
from memory.search.unembedded import (
    Unembedded,
    begin_embedder,
    embedded_up_to,
    passages_without,
)
from memory.search.vectors import PassageVector, add_vectors, create_vector_index
from memory.tables.warehouse import Warehouse

logger = logging.getLogger(__name__)

_BATCH: Final = 16
"""Passages embedded between two looks at the world: a second of a core at most."""

_WINDOW: Final = 1_000
"""Passages that are looked up at once."""

_NICE: Final = 10
_IDLE_SECS: Final = 2.0
_AGAIN_SECS: Final = 10.0


class EmbeddingFollower:
    """A thread that follows landings until it is closed."""

    def __init__(self, *, index: IndexDatabase, warehouse: Warehouse, meaning: Meaning) -> None:
        self._index = index
        self._lock_key = warehouse.lock_key & 0x7FFFFFFF
        self._meaning = meaning
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def close(self) -> None:
        """Stop after the batch that runs."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(10)

    def _run(self) -> None:
        with suppress(OSError, AttributeError):
            # This thread alone, where the system can: requests come before a backlog.
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        while not self._stop.is_set():
            try:
                with self._index.connect(application="embedding") as connection:
                    self._follow(connection)
            except EmbedderFailed as error:
                logger.warning("passages wait for their vectors: %s", error.message)
                self._stop.wait(_AGAIN_SECS)
            except (psycopg.Error, OSError, AmpUpError) as error:
                logger.warning("embedding begins again: %s", error)
                self._stop.wait(_AGAIN_SECS)
            except Exception:
                logger.exception("embedding failed and begins again")
                self._stop.wait(_AGAIN_SECS)

    def _follow(self, connection: psycopg.Connection) -> None:
        while not self._stop.is_set():
            if self._alone(connection):
                break
            self._stop.wait(_IDLE_SECS)
        connection.execute(f"LISTEN {NOTIFY_CHANNEL}")
        while not self._stop.is_set():
            if not embed_some(connection, self._meaning, stop=self._stop):
                self._wait(connection)

    def _alone(self, connection: psycopg.Connection) -> bool:
        row = connection.execute(
            "SELECT pg_try_advisory_lock(%s, hashtext('embedding'))", (self._lock_key,)
        ).fetchone()
        return bool(row and row[0])

    def _wait(self, connection: psycopg.Connection) -> None:
        end = monotonic() + _IDLE_SECS
        while not self._stop.is_set() and monotonic() < end:
            if list(connection.notifies(timeout=0.25, stop_after=1)):
                break


def embed_some(
    connection: psycopg.Connection, meaning: Meaning, *, stop: threading.Event | None = None
) -> bool:
    """Embed the passages of the next commits that have no vectors; say whether there were any.

    Raises:
        EmbedderFailed: nothing of the batch was written.
    """
    embedder = meaning.embedder
    with connection.cursor() as cursor:
        head = live_head(cursor)
        begin_embedder(cursor, head, embedder.fingerprint)
        since = embedded_up_to(cursor, head, embedder.fingerprint)
    if since >= head.seq:
        return False
    create_vector_index(connection, generation=head.generation, width=embedder.width)
    with connection.cursor(binary=True) as cursor:
        backlog = passages_without(cursor, head, embedder.fingerprint, since=since, limit=_WINDOW)
    for start in range(0, len(backlog.passages), _BATCH):
        if stop is not None and stop.is_set():
            return True
        _embed(connection, head, meaning, backlog.passages[start : start + _BATCH])
        reach("embedding.written")
    with connection.cursor() as cursor:
        cursor.execute(*backlog.done(head, embedder.fingerprint))
    return True


def _embed(
    connection: psycopg.Connection,
    head: Head,
    meaning: Meaning,
    passages: Sequence[Unembedded],
) -> None:
    found = meaning.passages([passage.text for passage in passages])
    vectors: dict[int, list[PassageVector]] = {}
    for passage, pieces in zip(passages, found, strict=True):
        vectors.setdefault(passage.scope_id, []).extend(
            PassageVector(
                passage.rid, passage.n, meaning.embedder.fingerprint, part, values.tolist()
            )
            for part, values in enumerate(pieces)
        )
    with connection.transaction(), connection.cursor() as cursor:
        for scope_id, some in vectors.items():
            add_vectors(cursor, generation=head.generation, scope_id=scope_id, vectors=some)
