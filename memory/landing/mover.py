"""The mover: a thread that keeps index and tables quick to read, outside the landing lock.

Woken by NOTIFY after a landing, throttled, and safe to run in several processes at once: each
step is a transaction that others skip over.
"""

import logging
import threading
from time import perf_counter
from typing import Final

import psycopg

from ampup_site.kernel.clock import Clock, Micros
from ampup_site.kernel.errors import AmpUpError
from ampup_site.kernel.failpoints import reach
from memory.landing.transaction import NOTIFY_CHANNEL
from memory.search.database import IndexDatabase
from memory.search.folding import fold_waiting
from memory.search.generations import drop_generation, retired_generations
from memory.search.heads import live_head
from memory.search.upkeep import VECTOR_BATCH, move_vectors
from memory.tables.compaction import MIN_FILES, compact
from memory.tables.warehouse import Warehouse

logger = logging.getLogger(__name__)

_IDLE_SECS: Final = 5.0
_SLICE_SECS: Final = 0.25
"""How soon a stop is noticed."""

_SETTLE_SECS: Final = 0.05
"""After a landing others mostly follow at once."""

_REST: Final = 2.0
"""After a step that took t seconds the mover rests 2 t: it takes a third of a core at most."""

_LONGEST_REST: Final = 5.0
"""What waits is read passage by passage by every query, so a backlog is not left alone for long."""

LONGEST_READ: Final = Micros(120_000_000)
"""A retired generation is kept so long: no read that began on it still runs."""


class Mover:
    """Runs until it is closed; `step` is one pass, which tests and commands call."""

    def __init__(self, *, index: IndexDatabase, warehouse: Warehouse, clock: Clock) -> None:
        self._index = index
        self._warehouse = warehouse
        self._clock = clock
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mover", daemon=True)

    def start(self) -> None:
        """Begin to follow landings."""
        self._thread.start()

    def close(self) -> None:
        """Stop after the step that runs."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(30)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                with self._index.connect(application="mover") as connection:
                    connection.execute(f"LISTEN {NOTIFY_CHANNEL}")
                    self._follow(connection)
            except (psycopg.Error, OSError, AmpUpError) as error:
                logger.warning("the mover begins again: %s", error)
                self._stop.wait(_IDLE_SECS)
            except Exception:
                # A damaged file, say: searches and other tables still need the rest of its work.
                logger.exception("the mover failed and begins again")
                self._stop.wait(_IDLE_SECS)

    def _follow(self, connection: psycopg.Connection) -> None:
        while not self._stop.is_set():
            began = perf_counter()
            busy = step(connection, clock=self._clock)
            for key in self._warehouse.take_grown(files=MIN_FILES):
                compact(self._warehouse, key)
            if busy:
                self._stop.wait(min(_LONGEST_REST, (perf_counter() - began) * _REST))
            else:
                self._wait(connection)

    def _wait(self, connection: psycopg.Connection) -> None:
        """Wait for a landing, or for as long as idle things may stay undone."""
        slices = int(_IDLE_SECS / _SLICE_SECS)
        for _ in range(slices):
            heard = list(connection.notifies(timeout=_SLICE_SECS, stop_after=1))
            if heard or self._stop.is_set():
                break
        self._stop.wait(_SETTLE_SECS)


def step(connection: psycopg.Connection, *, clock: Clock) -> bool:
    """Do what is due, each thing once; say whether it was so much that a rest is due."""
    with connection.cursor() as cursor:
        head = live_head(cursor)
        retired = retired_generations(cursor, before=Micros(clock.now() - LONGEST_READ))
    folded = fold_waiting(connection, head, steps=1)
    if folded:
        reach("mover.folded")
    moved = move_vectors(connection, head)
    if moved:
        reach("mover.moved")
    for generation in retired:
        drop_generation(connection, generation)
    return folded > 0 or moved == VECTOR_BATCH
