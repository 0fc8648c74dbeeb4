"""Writes the rows of commits into a generation by COPY: what landing and rebuild have in common.

The rows are a function of the Iceberg records, the analyzer and the generation's ACL numbers,
so whoever writes them, landing, repair or rebuild, writes the same ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import psycopg

from memory.domain.acl import Acl
from memory.domain.ids import EpisodeId
from memory.domain.indexed import IndexedPassage
from memory.domain.landing import Key
from memory.domain.records import EpisodeRecord, LedgerRecord
from memory.search import ddl
from memory.search.acl_numbers import AclNumbers
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
    episodes: list[tuple[object, ...]] = field(default_factory=list)
    passages: list[tuple[object, ...]] = field(default_factory=list)
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
        self.episodes.append(
            (
                *key,
                acl_set_id,
                bytes.fromhex(record.episode_id),
                record.source,
                record.episode_type,
                record.document,
                record.version_of,
                record.occurred_at,
                record.recorded_at,
                record.author,
                list(record.about),
                list(record.tags),
                record.meta,
                bytes.fromhex(record.body_sha256),
                record.body_len,
                len(passages),
                sum(passage.lexemes for passage in passages),
                record.origin_commit_id,
            )
        )
        self.passages.extend(
            (
                *key,
                passage.n,
                acl_set_id,
                passage.first_unit,
                passage.last_unit,
                passage.content,
                passage.text,
                passage.terms,
            )
            for passage in passages
        )
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
    "episode_rows": "generation, scope_id, branch_id, seq, rid, acl_set_id, episode_id, source,"
    " episode_type, document, version_of, occurred_at, recorded_at, author, about, tags, meta,"
    " body_sha256, body_len, passages, lexemes, origin_commit_id",
    "passages": "generation, scope_id, branch_id, seq, rid, n, acl_set_id, first_unit, last_unit,"
    " content, text, terms",
    "commits": "generation, seq, commit_id, scope_id, branch_id, kind, author, batch_id, job_id,"
    " message, episode_count, fact_count, passage_count, payload_hash, chain_hash, committed_at",
    "gone": "generation, scope_id, branch_id, rid, seq, kind",
}

_PASSAGE_TYPES: Final = (
    *("int4", "int4", "int8", "int8", "int8", "int4", "int4", "int4", "int4"),
    *("bytea", "text", "bytea"),
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
    _copy(cursor, "episode_rows", batch.generation, batch.episodes)
    _copy(cursor, "passages", batch.generation, batch.passages, types=_PASSAGE_TYPES)
    _copy(cursor, "commits", batch.generation, batch.commits)
    _copy(cursor, "gone", batch.generation, batch.gone)
    if batch.present:
        _amend(cursor, batch.generation, batch.present)


def _copy(
    cursor: psycopg.Cursor,
    table: str,
    generation: int,
    rows: Sequence[tuple[object, ...]],
    *,
    types: Sequence[str] = (),
) -> None:
    """Copy rows into a generation's partition; in binary if the columns' types are given."""
    if not rows:
        return
    statement = f"COPY {ddl.SCHEMA}.{table}_g{generation} ({_COLUMNS[table]}) FROM STDIN"
    if types:
        statement += " (FORMAT binary)"
    with cursor.copy(statement) as copy:
        if types:
            copy.set_types(types)
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
