"""Reads landed commits back from the tables, in chunks as the index takes them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from memory.domain.acl import Acl
from memory.domain.episode_types import EpisodeTypes
from memory.domain.ids import EpisodeId
from memory.domain.landing import Key
from memory.domain.lineage import Seq
from memory.domain.records import CommitKind, EpisodeRecord, LedgerRecord
from memory.domain.units import UnitKind
from memory.tables import reading
from memory.tables.warehouse import Warehouse

WINDOW: Final = 20_000
"""Commits, or episodes, read from the tables at a time, their texts a part at a time: bounds
memory, and how often a file is opened."""

CHUNK_EPISODES: Final = 500
"""Episodes written in one transaction; a chunk has at least one commit, whole."""


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
class Chunk:
    """Commits that follow one another, with a list each of what they did; `bodies` of them all."""

    ledger: list[LedgerRecord] = field(default_factory=list)
    episodes: list[list[EpisodeRecord]] = field(default_factory=list)
    removed: list[list[EpisodeId]] = field(default_factory=list)
    amended: list[list[tuple[EpisodeId, Acl]]] = field(default_factory=list)
    bodies: list[tuple[str, UnitKind, str | None]] = field(default_factory=list)


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


@dataclass(slots=True)
class _Window:
    """The rows of some commits of every scope they touch, by commit."""

    episodes: dict[str, list[EpisodeRecord]] = field(default_factory=lambda: defaultdict(list))
    removed: dict[str, list[EpisodeId]] = field(default_factory=lambda: defaultdict(list))
    amended: dict[str, list[tuple[EpisodeId, Acl]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def text_bytes(self, row: LedgerRecord) -> int:
        """Return how many bytes of text a commit has."""
        return sum(record.body_len for record in self.episodes[row.commit_id])


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
    return rows


def read_chunks(
    warehouse: Warehouse, types: EpisodeTypes, window: Sequence[LedgerRecord], folded: Folded
) -> Iterator[Chunk]:
    """Read the rows of a window of the ledger and part them into chunks, in seq order."""
    rows = _read_window(warehouse, window)
    for part in reading.in_parts(window, rows.text_bytes):
        yield from _part_chunks(types, part, rows, _read_texts(warehouse, part, rows), folded)


def _read_texts(
    warehouse: Warehouse, part: Sequence[LedgerRecord], rows: _Window
) -> dict[tuple[str, str], str]:
    records: dict[str, list[EpisodeRecord]] = defaultdict(list)
    for row in part:
        records[row.scope] += rows.episodes[row.commit_id]
    return {
        (namespace, sha256): text
        for namespace, added in records.items()
        for sha256, text in reading.texts(warehouse, namespace, added).items()
    }


def _part_chunks(
    types: EpisodeTypes,
    part: Sequence[LedgerRecord],
    rows: _Window,
    texts: Mapping[tuple[str, str], str],
    folded: Folded,
) -> Iterator[Chunk]:
    chunk = Chunk()
    for row in part:
        added = [_with_folded(folded, row, record) for record in rows.episodes[row.commit_id]]
        chunk.ledger.append(row)
        chunk.episodes.append(added)
        chunk.removed.append(rows.removed[row.commit_id])
        chunk.amended.append(rows.amended[row.commit_id] if row.seq > folded.upto else [])
        chunk.bodies.extend(
            (
                texts[(row.scope, record.body_sha256)],
                types.named(record.episode_type).unit,
                record.document,
            )
            for record in added
        )
        if len(chunk.bodies) >= CHUNK_EPISODES or len(chunk.ledger) >= CHUNK_EPISODES:
            yield chunk
            chunk = Chunk()
    if chunk.ledger:
        yield chunk


def _with_folded(folded: Folded, row: LedgerRecord, record: EpisodeRecord) -> EpisodeRecord:
    if not folded.acls:
        return record
    key = (row.scope, EpisodeId(record.episode_id))
    acl = folded.acl_of(key, seq=row.seq, written=Acl(record.acl))
    return record if acl == record.acl else replace(record, acl=acl)
