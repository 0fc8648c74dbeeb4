"""Writes the rows of commits into a generation by COPY: what landing and rebuild have in common.

The rows are a function of the Iceberg records, the analyzer and the generation's ACL numbers,
so whoever writes them, landing, repair or rebuild, writes the same ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import psycopg

from memory.domain.acl import Acl
from memory.domain.ids import EpisodeId
from memory.domain.indexed import IndexedPassage
from memory.domain.landing import Key
from memory.domain.neighbours import thread_number
from memory.domain.records import EpisodeRecord, LedgerRecord
from memory.search import ddl
from memory.search.acl_numbers import AclNumbers
from memory.search.packing import FixedColumns, column, copy_rows, optional_text, text_array
from memory.search.states import Standing

ROW_BITS: Final = 16
"""A row's number is its seq and its place among the commit's episodes, sorted by id: the same
after a rebuild. 16 bits are far above the 5,000 episodes of the largest commit."""


@dataclass(frozen=True, slots=True)
class CommitRows:
    """One landed commit, as the index takes it.

    Args:
        added: episodes that became live, with their passages; any order.
        removed: episodes that went.
        amended: episodes whose ACL changed, with the ACL they have now.
    """

    ledger: LedgerRecord
    chain_hash: str
    added: Sequence[tuple[EpisodeRecord, tuple[IndexedPassage, ...]]] = ()
    removed: Sequence[EpisodeId] = ()
    amended: Sequence[tuple[EpisodeId, Acl]] = ()


@dataclass(slots=True)
class _Place:
    rids: tuple[int, ...]
    live_rid: int | None


@dataclass(slots=True)
class _Batch:
    """The rows of a batch of commits, a list a table, in COPY's column order."""

    generation: int
    scopes: Mapping[str, int]
    acl: AclNumbers
    places: dict[Key, _Place]
    episodes: list[bytes] = field(default_factory=list)
    passages: list[bytes] = field(default_factory=list)
    commits: list[tuple[object, ...]] = field(default_factory=list)
    gone: list[tuple[object, ...]] = field(default_factory=list)
    present: list[tuple[int, int, int, int]] = field(default_factory=list)

    def take(self, commit: CommitRows) -> None:
        ledger = commit.ledger
        scope_id = self.scopes[ledger.scope]
        for place, (record, passages) in enumerate(
            sorted(commit.added, key=lambda added: added[0].episode_id)
        ):
            self._add(scope_id, ledger, (ledger.seq << ROW_BITS) | place, record, passages)
        for episode_id in commit.removed:
            self._remove(scope_id, ledger, episode_id)
        for episode_id, acl in commit.amended:
            self._amend(scope_id, ledger, episode_id, acl)
        self._commit(scope_id, commit)

    def _add(
        self,
        scope_id: int,
        ledger: LedgerRecord,
        rid: int,
        record: EpisodeRecord,
        passages: tuple[IndexedPassage, ...],
    ) -> None:
        acl_set_id = self.acl.number(Acl(record.acl))
        self.acl.use(scope_id, acl_set_id)
        key = (self.generation, scope_id, record.branch_id, ledger.seq, rid)
        self.episodes.append(_episode_row(key, acl_set_id, record, passages))
        thread = thread_number(record.source, passages=len(passages), rid=rid)
        self.passages += [
            _passage_row(key, acl_set_id, record.occurred_at, thread, passage)
            for passage in passages
        ]
        place = self.places.get((ledger.scope, EpisodeId(record.episode_id)))
        self.places[(ledger.scope, EpisodeId(record.episode_id))] = _Place(
            rids=(*place.rids, rid) if place else (rid,), live_rid=rid
        )

    def _remove(self, scope_id: int, ledger: LedgerRecord, episode_id: EpisodeId) -> None:
        place = self.places.get((ledger.scope, episode_id))
        if place is None or place.live_rid is None:
            return
        self.gone.append(
            (self.generation, scope_id, ledger.branch_id, place.live_rid, ledger.seq, "removed")
        )
        place.live_rid = None

    def _amend(self, scope_id: int, ledger: LedgerRecord, episode_id: EpisodeId, acl: Acl) -> None:
        place = self.places.get((ledger.scope, episode_id))
        acl_set_id = self.acl.number(acl)
        self.acl.use(scope_id, acl_set_id)
        for rid in place.rids if place else ():
            self.present.append((scope_id, rid, acl_set_id, ledger.seq))

    def _commit(self, scope_id: int, commit: CommitRows) -> None:
        ledger = commit.ledger
        self.commits.append(
            (
                self.generation,
                ledger.seq,
                ledger.commit_id,
                scope_id,
                ledger.branch_id,
                ledger.kind,
                ledger.author,
                ledger.batch_id,
                ledger.job_id,
                ledger.message,
                ledger.episode_count,
                ledger.fact_count,
                sum(len(passages) for _, passages in commit.added),
                ledger.payload_hash,
                commit.chain_hash,
                ledger.committed_at,
            )
        )


_COLUMNS: Final = {
    "episode_rows": "generation, scope_id, branch_id, seq, rid, acl_set_id, occurred_at,"
    " recorded_at, body_len, passages, lexemes, episode_id, body_sha256, source, episode_type,"
    " document, version_of, author, about, tags, meta, origin_commit_id",
    "passages": "generation, scope_id, branch_id, seq, rid, n, acl_set_id, occurred_at, thread,"
    " first_unit, last_unit, content, text, terms",
    "commits": "generation, seq, commit_id, scope_id, branch_id, kind, author, batch_id, job_id,"
    " message, episode_count, fact_count, passage_count, payload_hash, chain_hash, committed_at",
    "gone": "generation, scope_id, branch_id, rid, seq, kind",
}
_EPISODE: Final = FixedColumns("iiqqqiqqqiq", columns=22)
_PASSAGE: Final = FixedColumns("iiqqqiiqqii", columns=14)
_RowKey: TypeAlias = tuple[int, int, int, int, int]
"""Generation, scope, branch, seq and rid: how every row begins."""


def _episode_row(
    key: _RowKey, acl_set_id: int, record: EpisodeRecord, passages: Sequence[IndexedPassage]
) -> bytes:
    return b"".join(
        (
            _EPISODE.pack(
                *key,
                acl_set_id,
                record.occurred_at,
                record.recorded_at,
                record.body_len,
                len(passages),
                sum([passage.lexemes for passage in passages]),
            ),
            column(bytes.fromhex(record.episode_id)),
            column(bytes.fromhex(record.body_sha256)),
            column(record.source.encode()),
            column(record.episode_type.encode()),
            optional_text(record.document),
            optional_text(record.version_of),
            optional_text(record.author),
            text_array(record.about),
            text_array(record.tags),
            optional_text(record.meta),
            optional_text(record.origin_commit_id),
        )
    )


def _passage_row(
    key: _RowKey, acl_set_id: int, occurred_at: int, thread: int, passage: IndexedPassage
) -> bytes:
    return b"".join(
        (
            _PASSAGE.pack(
                *key,
                passage.n,
                acl_set_id,
                occurred_at,
                thread,
                passage.first_unit,
                passage.last_unit,
            ),
            column(passage.content),
            column(passage.text.encode()),
            column(passage.terms),
        )
    )


def write_commits(
    cursor: psycopg.Cursor,
    commits: Sequence[CommitRows],
    *,
    acl: AclNumbers,
    scopes: Mapping[str, int],
    standings: Mapping[Key, Standing],
) -> None:
    """Write the rows of commits, in seq order, into the generation `acl` belongs to.

    Args:
        acl: the generation's ACL numbers; new sets and bitmaps are written with the rows.
        standings: where the episodes that the commits touch stand before them.
    """
    batch = _Batch(
        generation=acl.generation,
        scopes=scopes,
        acl=acl,
        places={key: _Place(held.rids, held.live_rid) for key, held in standings.items()},
    )
    for commit in commits:
        batch.take(commit)
    acl.write(cursor)
    for table, packed in (("episode_rows", batch.episodes), ("passages", batch.passages)):
        if packed:
            name = f"{ddl.SCHEMA}.{table}_g{batch.generation}"
            copy_rows(cursor, name, _COLUMNS[table], packed)
    _copy(cursor, "commits", batch.generation, batch.commits)
    _copy(cursor, "gone", batch.generation, batch.gone)
    if batch.present:
        _amend(cursor, batch.generation, batch.present)


def _copy(
    cursor: psycopg.Cursor, table: str, generation: int, rows: Sequence[tuple[object, ...]]
) -> None:
    """Copy the few rows of a landing into a generation's partition."""
    if not rows:
        return
    columns = _COLUMNS[table]
    with cursor.copy(f"COPY {ddl.SCHEMA}.{table}_g{generation} ({columns}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _amend(
    cursor: psycopg.Cursor, generation: int, present: Sequence[tuple[int, int, int, int]]
) -> None:
    newest = {(scope_id, rid): (acl_set_id, seq) for scope_id, rid, acl_set_id, seq in present}
    cursor.execute(
        f"INSERT INTO {ddl.SCHEMA}.acl_current_g{generation}"
        " (generation, scope_id, rid, acl_set_id, seq)"
        " SELECT %s, * FROM unnest(%s::int[], %s::bigint[], %s::int[], %s::bigint[])"
        " ON CONFLICT (scope_id, rid)"
        " DO UPDATE SET acl_set_id = excluded.acl_set_id, seq = excluded.seq",
        (
            generation,
            [scope_id for scope_id, _ in newest],
            [rid for _, rid in newest],
            [acl_set_id for acl_set_id, _ in newest.values()],
            [seq for _, seq in newest.values()],
        ),
    )
