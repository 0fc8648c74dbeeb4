"""Builds a generation of the index from the tables beside the live one, and flips to it."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Final

import psycopg

from ampup_site.kernel.clock import Clock
from ampup_site.kernel.failpoints import reach
from memory.domain.analyzer import FINGERPRINT
from memory.domain.episode_types import EpisodeTypes
from memory.domain.errors import RebuildRunning
from memory.domain.lineage import Seq
from memory.domain.progress import silent
from memory.landing.apply import analyze_bodies, apply_range
from memory.landing.children import children
from memory.landing.history import read_folded
from memory.search import ddl
from memory.search.database import IndexDatabase
from memory.search.folding import fold_waiting
from memory.search.generations import (
    building_generations,
    drop_generation,
    flip,
    open_generation,
)
from memory.search.heads import Head, live_generation, live_head
from memory.search.vectors import copy_vectors
from memory.tables import reading
from memory.tables.warehouse import Warehouse

logger = logging.getLogger(__name__)

_SMALL_GAP: Final = 8
"""Commits that may be applied while the landing lock is held: some milliseconds each."""

_ROUNDS: Final = 40
"""How often a gap is closed before the lock: each time fewer have landed meanwhile, unless
writers outrun us, and then they have to wait for once."""


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """What a rebuild did."""

    generation: int
    commits: int
    seconds: float


def rebuild_index(
    *,
    index: IndexDatabase,
    warehouse: Warehouse,
    types: EpisodeTypes,
    clock: Clock,
    progress: Callable[[int, int], None],
) -> RebuildReport:
    """Build, catch up, and flip under the landing lock.

    Writes go on meanwhile and are applied before the flip. Killed anywhere, the live generation
    is whole and the next rebuild removes what was begun.

    Raises:
        RebuildRunning: another one runs.
    """
    began = perf_counter()
    with (
        index.connect(application="rebuild guard") as guard,
        _alone(guard, warehouse),
        index.connect(application="rebuild") as connection,
    ):
        ddl.ensure_tables(connection)
        with connection.cursor() as cursor:
            begun = building_generations(cursor)
        for generation in begun:
            drop_generation(connection, generation)
        head = _build(connection, warehouse, types, progress)
        head = _flip(connection, warehouse, types, head, clock)
    return RebuildReport(head.generation, head.seq, perf_counter() - began)


def rebuild_if_stale(
    *, index: IndexDatabase, warehouse: Warehouse, types: EpisodeTypes, clock: Clock
) -> bool:
    """Build the index anew if another analyzer made the live one; say whether it was so.

    Searches go on over the old one meanwhile, and find what both analyzers read alike.
    """
    with index.connect(application="stale index") as connection, connection.cursor() as cursor:
        if live_head(cursor).analyzer == FINGERPRINT:
            return False
    logger.warning("the index was made by another analyzer; it is built anew beside")
    with suppress(RebuildRunning):
        report = rebuild_index(
            index=index, warehouse=warehouse, types=types, clock=clock, progress=silent
        )
        logger.warning("the index is built anew, as generation %d", report.generation)
    return True


@contextmanager
def _alone(guard: psycopg.Connection, warehouse: Warehouse) -> Iterator[None]:
    """Hold a transaction's lock, which dies with the process, for the whole rebuild."""
    with guard.transaction():
        row = guard.execute(
            "SELECT pg_try_advisory_xact_lock(%s, hashtext('rebuild'))",
            (warehouse.lock_key & 0x7FFFFFFF,),
        ).fetchone()
        if row is None or not row[0]:
            message = "A rebuild of this index is running; wait for it to end."
            raise RebuildRunning(message)
        yield


def _build(
    connection: psycopg.Connection,
    warehouse: Warehouse,
    types: EpisodeTypes,
    progress: Callable[[int, int], None],
) -> Head:
    # Its rows can be made again, so nobody waits for the disk but the flip, whose own flush
    # covers everything written before it.
    connection.execute("SET synchronous_commit = off")
    connection.execute("SET maintenance_work_mem = '256MB'")
    head = open_generation(connection)
    reach("rebuild.opened")
    with connection.transaction():
        ddl.create_keys(connection, head.generation)
    target = Seq(warehouse.ledger_seq())
    folded = read_folded(warehouse, reading.ledger_rows(warehouse, to_seq=target))
    with children(analyze_bodies) as analyze:
        head = apply_range(
            connection,
            warehouse,
            types,
            head,
            to_seq=target,
            analyze=analyze,
            folded=folded,
            progress=lambda done: progress(done, target),
        )
    reach("rebuild.filled")
    fold_waiting(connection, head)
    connection.execute(f"ANALYZE {ddl.SCHEMA}.passages_g{head.generation}")
    connection.execute(f"ANALYZE {ddl.SCHEMA}.episode_rows_g{head.generation}")
    reach("rebuild.indexed")
    return head


def _flip(
    connection: psycopg.Connection,
    warehouse: Warehouse,
    types: EpisodeTypes,
    head: Head,
    clock: Clock,
) -> Head:
    for _ in range(_ROUNDS):
        target = Seq(warehouse.ledger_seq())
        if target - head.seq <= _SMALL_GAP:
            break
        head = apply_range(connection, warehouse, types, head, to_seq=target)
    connection.execute("SET synchronous_commit = on")
    with connection.cursor() as cursor:
        old = live_generation(cursor)
        if old is not None:
            copy_vectors(cursor, from_generation=old, to_generation=head.generation)
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (warehouse.lock_key,))
        with connection.cursor() as cursor:
            target = Seq(warehouse.ledger_seq())
            head = apply_range(connection, warehouse, types, head, to_seq=target)
            flip(cursor, generation=head.generation, now=clock.now())
        reach("rebuild.flipped")
    # Vectors that came while the lock was taken; none is needed for a keyword answer.
    if old is not None:
        with connection.cursor() as cursor:
            copy_vectors(cursor, from_generation=old, to_generation=head.generation)
    return head
