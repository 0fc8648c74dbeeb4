"""`index.apply`: makes a range of landed commits into index rows of one generation.

The one way from the Iceberg tables to the index: repair after a crash, catching up at the
start, and every rebuild go through here, and write the rows that landing would have written.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import TypeAlias

import psycopg

from ampup_site.kernel.clock import Micros
from ampup_site.kernel.failpoints import reach
from memory.domain.acl import Acl
from memory.domain.chain import row_hash
from memory.domain.episode_types import EpisodeTypes
from memory.domain.ids import EpisodeId
from memory.domain.indexed import IndexedPassage, index_body
from memory.domain.landing import Key
from memory.domain.lineage import Seq
from memory.domain.units import UnitKind
from memory.landing.history import NOTHING_FOLDED, Chunk, Folded, read_chunks, windows
from memory.search.acl_numbers import AclNumbers
from memory.search.heads import Head, advance, live_head, number_scopes
from memory.search.rows import CommitRows, write_commits
from memory.search.states import load_standings
from memory.tables import reading
from memory.tables.warehouse import Warehouse

Bodies: TypeAlias = Sequence[tuple[str, UnitKind, str | None]]
Analyze: TypeAlias = Callable[[Iterable[Bodies]], Iterable[Sequence[tuple[IndexedPassage, ...]]]]
"""Indexes chunks of bodies, in order; a pool of processes may do it ahead of the reader."""


def analyze_here(chunks: Iterable[Bodies]) -> Iterator[Sequence[tuple[IndexedPassage, ...]]]:
    """Index bodies in this process."""
    return (analyze_bodies(chunk) for chunk in chunks)


def analyze_bodies(bodies: Bodies) -> list[tuple[IndexedPassage, ...]]:
    """Index the bodies of a chunk; runs in child processes."""
    return [index_body(*body) for body in bodies]


def apply_range(
    connection: psycopg.Connection,
    warehouse: Warehouse,
    types: EpisodeTypes,
    head: Head,
    *,
    to_seq: Seq,
    analyze: Analyze = analyze_here,
    folded: Folded = NOTHING_FOLDED,
    progress: Callable[[int], None] | None = None,
) -> Head:
    """Apply the commits after `head` up to `to_seq` to its generation; return the new head.

    Each chunk is a transaction with the head's move, so whoever dies here leaves a shorter
    index and never a torn one.
    """
    acl = AclNumbers(head.generation)
    ledger = reading.ledger_rows(warehouse, from_seq=head.seq + 1, to_seq=to_seq)
    for window in windows(ledger):
        chunks = read_chunks(warehouse, types, window, folded)
        for chunk, passages in _analyzed(chunks, analyze):
            commits = _commit_rows(chunk, passages)
            with connection.transaction(), connection.cursor(binary=True) as cursor:
                head = _write(cursor, acl, head, commits)
            acl.settle()
            reach("apply.chunk")
            if progress is not None:
                progress(head.seq)
    return head


def _analyzed(
    chunks: Iterator[Chunk], analyze: Analyze
) -> Iterator[tuple[Chunk, Sequence[tuple[IndexedPassage, ...]]]]:
    """Pair chunks with their passages; only those in work are held."""
    begun = list(islice(chunks, 2))
    # A lone chunk is indexed here before a child process has even started.
    work = analyze if len(begun) > 1 else analyze_here
    held: deque[Chunk] = deque()

    def bodies() -> Iterator[Bodies]:
        for chunk in chain(begun, chunks):
            held.append(chunk)
            yield chunk.bodies

    for passages in work(bodies()):
        yield held.popleft(), passages


def catch_up(connection: psycopg.Connection, warehouse: Warehouse, types: EpisodeTypes) -> Head:
    """Bring the live generation to where the ledger stands, under the landing lock.

    A landing moves both at once; they differ after a restore, after the index was dropped, or
    with a catalog that lands outside Postgres.
    """
    with connection.cursor() as cursor:
        head = live_head(cursor)
    if warehouse.ledger_seq() == head.seq:
        return head
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (warehouse.lock_key,))
        with connection.cursor() as cursor:
            head = live_head(cursor)
        return apply_range(connection, warehouse, types, head, to_seq=Seq(warehouse.ledger_seq()))


def _commit_rows(chunk: Chunk, passages: Sequence[tuple[IndexedPassage, ...]]) -> list[CommitRows]:
    rows = iter(passages)
    return [
        CommitRows(
            ledger=row,
            chain_hash=row_hash(row),
            added=[(record, next(rows)) for record in added],
            removed=removed,
            amended=amended,
        )
        for row, added, removed, amended in zip(
            chunk.ledger, chunk.episodes, chunk.removed, chunk.amended, strict=True
        )
    ]


def _write(
    cursor: psycopg.Cursor, acl: AclNumbers, head: Head, commits: Sequence[CommitRows]
) -> Head:
    keys: set[Key] = set()
    acls: set[Acl] = set()
    for commit in commits:
        scope = commit.ledger.scope
        keys |= {(scope, EpisodeId(record.episode_id)) for record, _ in commit.added}
        keys |= {(scope, episode_id) for episode_id in commit.removed}
        keys |= {(scope, episode_id) for episode_id, _ in commit.amended}
        acls |= {Acl(record.acl) for record, _ in commit.added}
        acls |= {changed for _, changed in commit.amended}
    acl.learn(cursor, acls, next_number=head.next_acl_set)
    scopes = number_scopes(cursor, {commit.ledger.scope for commit in commits})
    standings = load_standings(cursor, generation=head.generation, keys=keys, scopes=scopes)
    write_commits(cursor, commits, acl=acl, scopes=scopes, standings=standings)
    last = commits[-1]
    moved = replace(
        head,
        seq=Seq(last.ledger.seq),
        chain_hash=last.chain_hash,
        committed_at=Micros(last.ledger.committed_at),
        next_acl_set=acl.next_number,
    )
    advance(
        cursor,
        head,
        seq=moved.seq,
        chain_hash=moved.chain_hash,
        committed_at=moved.committed_at,
        next_acl_set=moved.next_acl_set,
    )
    return moved
