"""`index.apply`: makes a range of landed commits into index rows of one generation.

The one way from the Iceberg tables to the index: repair after a crash, catching up at the
start, and every rebuild go through here, and write the rows that landing would have written.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

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
from memory.domain.records import CommitKind, EpisodeRecord, LedgerRecord
from memory.domain.units import UnitKind
from memory.search.acl_numbers import AclNumbers
from memory.search.heads import Head, advance, live_head, number_scopes
from memory.search.rows import CommitRows, write_commits
from memory.search.states import load_standings
from memory.tables import reading
from memory.tables.warehouse import Warehouse

WINDOW: Final = 20_000
"""Commits, or episodes, read from the tables at a time: bounds memory, and how often a file is
opened."""

CHUNK_EPISODES: Final = 500
"""Episodes written in one transaction; a chunk has at least one commit, whole."""

Bodies: TypeAlias = Sequence[tuple[str, UnitKind]]
Analyze: TypeAlias = Callable[[Iterable[Bodies]], Iterable[Sequence[tuple[IndexedPassage, ...]]]]
"""Indexes chunks of bodies, in order; a pool of processes may do it ahead of the reader."""


@dataclass(frozen=True, slots=True)
class Folded:
    """Amendments that a new generation takes into the rows themselves.

    Args:
        upto: amendments at or before this seq are folded; later ones are applied as they come.
        acls: the last folded amendment of an episode: its seq and its ACL.
    """

    upto: Seq
    acls: Mapping[Key, tuple[int, Acl]]

    def acl_of(self, key: Key, *, seq: int, written: Acl) -> Acl:
        """Return the ACL a row has that was written at `seq` with `written`."""
        amended_at, acl = self.acls.get(key, (0, written))
        return acl if amended_at > seq else written


NOTHING_FOLDED: Final = Folded(upto=Seq(0), acls={})


@dataclass(slots=True)
class _Chunk:
    ledger: list[LedgerRecord] = field(default_factory=list)
    episodes: list[list[EpisodeRecord]] = field(default_factory=list)
    removed: list[list[EpisodeId]] = field(default_factory=list)
    amended: list[list[tuple[EpisodeId, Acl]]] = field(default_factory=list)
    bodies: list[tuple[str, UnitKind]] = field(default_factory=list)


def analyze_here(chunks: Iterable[Bodies]) -> Iterator[Sequence[tuple[IndexedPassage, ...]]]:
    """Index bodies in this process."""
    return (analyze_bodies(chunk) for chunk in chunks)


def analyze_bodies(bodies: Bodies) -> list[tuple[IndexedPassage, ...]]:
    """Index the bodies of a chunk; runs in child processes."""
    return [index_body(body, kind) for body, kind in bodies]


def read_folded(warehouse: Warehouse, ledger: Iterable[LedgerRecord]) -> Folded:
    """Return the amendments of these ledger rows, which begin with the first, to be folded."""
    seqs: dict[str, dict[str, int]] = defaultdict(dict)
    upto = 0
    for row in ledger:
        upto = row.seq
        if row.kind == CommitKind.ACL:
            seqs[row.scope][row.commit_id] = row.seq
    acls: dict[Key, tuple[int, Acl]] = {}
    for namespace, commits in seqs.items():
        for change in reading.acl_changes(warehouse, namespace):
            seq = commits.get(change.commit_id, 0)
            key = (namespace, EpisodeId(change.episode_id))
            if seq > acls.get(key, (0,))[0]:
                acls[key] = (seq, Acl(change.acl))
    return Folded(upto=Seq(upto), acls=acls)


def windows(ledger: Iterable[LedgerRecord]) -> Iterator[list[LedgerRecord]]:
    """Part the ledger into runs of at most so many commits and about so many episodes."""
    window: list[LedgerRecord] = []
    episodes = 0
    for row in ledger:
        window.append(row)
        episodes += row.episode_count
        if len(window) >= WINDOW or episodes >= WINDOW:
            yield window
            window, episodes = [], 0
    if window:
        yield window


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
        chunks = list(_chunks(warehouse, types, window, folded))
        # A lone chunk is indexed here before a child process has even started.
        work = analyze if len(chunks) > 1 else analyze_here
        analyzed = work(chunk.bodies for chunk in chunks)
        for chunk, passages in zip(chunks, analyzed, strict=True):
            commits = _commit_rows(chunk, passages)
            with connection.transaction(), connection.cursor(binary=True) as cursor:
                head = _write(cursor, acl, head, commits)
            acl.settle()
            reach("apply.chunk")
            if progress is not None:
                progress(head.seq)
    return head


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


@dataclass(slots=True)
class _Window:
    """The rows of some commits of every scope they touch, by commit."""

    episodes: dict[str, list[EpisodeRecord]] = field(default_factory=lambda: defaultdict(list))
    removed: dict[str, list[EpisodeId]] = field(default_factory=lambda: defaultdict(list))
    amended: dict[str, list[tuple[EpisodeId, Acl]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    texts: dict[tuple[str, str], str] = field(default_factory=dict)


def _read_window(warehouse: Warehouse, window: Sequence[LedgerRecord]) -> _Window:
    by_scope: dict[str, list[str]] = defaultdict(list)
    for row in window:
        by_scope[row.scope].append(row.commit_id)
    rows = _Window()
    for namespace, commit_ids in by_scope.items():
        part = reading.read_part(warehouse, namespace, commit_ids)
        for record in part.episodes:
            rows.episodes[record.commit_id].append(record)
        for tombstone in part.tombstones:
            rows.removed[tombstone.commit_id].append(EpisodeId(tombstone.episode_id))
        for change in part.acl_changes:
            amendment = (EpisodeId(change.episode_id), Acl(change.acl))
            rows.amended[change.commit_id].append(amendment)
        wanted = {record.body_sha256 for record in part.episodes}
        for sha256, text in reading.bodies(warehouse, namespace, wanted, near=commit_ids).items():
            rows.texts[(namespace, sha256)] = text
    return rows


def _chunks(
    warehouse: Warehouse, types: EpisodeTypes, window: Sequence[LedgerRecord], folded: Folded
) -> Iterator[_Chunk]:
    """Read the rows of a window of the ledger and part them into chunks, in seq order."""
    rows = _read_window(warehouse, window)
    chunk = _Chunk()
    for row in window:
        added = [_with_folded(folded, row, record) for record in rows.episodes[row.commit_id]]
        chunk.ledger.append(row)
        chunk.episodes.append(added)
        chunk.removed.append(rows.removed[row.commit_id])
        chunk.amended.append(rows.amended[row.commit_id] if row.seq > folded.upto else [])
        chunk.bodies.extend(
            (rows.texts[(row.scope, record.body_sha256)], types.named(record.episode_type).unit)
            for record in added
        )
        if len(chunk.bodies) >= CHUNK_EPISODES or len(chunk.ledger) >= CHUNK_EPISODES:
            yield chunk
            chunk = _Chunk()
    if chunk.ledger:
        yield chunk


def _with_folded(folded: Folded, row: LedgerRecord, record: EpisodeRecord) -> EpisodeRecord:
    if not folded.acls:
        return record
    key = (row.scope, EpisodeId(record.episode_id))
    acl = folded.acl_of(key, seq=row.seq, written=Acl(record.acl))
    return record if acl == record.acl else replace(record, acl=acl)


def _commit_rows(chunk: _Chunk, passages: Sequence[tuple[IndexedPassage, ...]]) -> list[CommitRows]:
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
