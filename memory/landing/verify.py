"""Compares the live generation with what the Iceberg tables say it must hold.

The rows are computed anew from the bodies, so a lexeme that is missing, a row too many, a body
that differs, a wrong ACL and a vector that is not its passage's are each found and named.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

import psycopg

from memory.domain.chain import row_hash
from memory.domain.episode_types import EpisodeTypes
from memory.domain.indexed import IndexedPassage, index_body
from memory.domain.records import EpisodeRecord, LedgerRecord
from memory.landing.expected import expected_commit, expected_passage, expected_row
from memory.landing.history import windows
from memory.search.database import IndexDatabase
from memory.search.heads import Head, live_head, scope_ids
from memory.search.rows import ROW_BITS
from memory.search.stored import (
    StoredPassage,
    StoredRow,
    damaged_vectors,
    stored_commits,
    stored_passages,
    stored_rows,
    strays,
)
from memory.search.stored_rights import wrong_bitmaps
from memory.search.stored_segments import damaged_segments
from memory.tables import reading
from memory.tables.warehouse import Warehouse

_NAMED: Final = 20
"""Differences that a report names; the counts are complete."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One row that is not as the tables say.

    Args:
        kind: missing, extra, stale, wrong_acl or wrong_vector.
        where: table, scope, and the row's place.
    """

    kind: str
    where: str


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What a comparison found; it is clean if `counts` is empty."""

    generation: int
    commits: int
    episodes: int
    passages: int
    counts: dict[str, int]
    differences: tuple[Difference, ...]

    @property
    def clean(self) -> bool:
        """Whether nothing differs."""
        return not self.counts


@dataclass(frozen=True, slots=True)
class _Life:
    """What became of a scope's episodes: when each was removed, and its last amendment."""

    removed: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    amended: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)


@dataclass(slots=True)
class _Findings:
    counts: Counter[str] = field(default_factory=Counter)
    named: list[Difference] = field(default_factory=list)

    def add(self, kind: str, where: str, *, times: int = 1) -> None:
        self.counts[kind] += times
        if len(self.named) < _NAMED:
            self.named.append(Difference(kind, where))


def verify_index(
    *,
    index: IndexDatabase,
    warehouse: Warehouse,
    types: EpisodeTypes,
    since: int,
    progress: Callable[[int, int], None],
) -> VerifyReport:
    """Compare the live generation, as it is at one moment, with the tables.

    Args:
        since: only commits after this seq are compared.
        progress: told the seq reached and the head.
    """
    with index.connect(application="verify") as connection, connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        with connection.cursor(binary=True) as cursor:
            head = live_head(cursor)
            comparison = _Comparison(cursor, warehouse, types, head)
            comparison.learn()
            ledger = reading.ledger_rows(warehouse, from_seq=since + 1, to_seq=head.seq)
            for window in windows(ledger):
                comparison.compare(window)
                progress(window[-1].seq, head.seq)
            comparison.compare_whole()
    return comparison.report(commits=head.seq - since)


class _Comparison:
    def __init__(
        self,
        cursor: psycopg.Cursor,
        warehouse: Warehouse,
        types: EpisodeTypes,
        head: Head,
    ) -> None:
        self._cursor = cursor
        self._warehouse = warehouse
        self._types = types
        self._head = head
        self._lives: dict[str, _Life] = defaultdict(_Life)
        self._scopes: dict[str, int] = {}
        self._findings = _Findings()
        self._episodes = 0
        self._passages = 0

    def learn(self) -> None:
        """Read the removals and amendments of all scopes: what a row is now depends on them."""
        seqs: dict[str, dict[str, int]] = defaultdict(dict)
        for row in reading.ledger_rows(self._warehouse, to_seq=self._head.seq):
            seqs[row.scope][row.commit_id] = row.seq
        self._scopes = scope_ids(self._cursor, seqs)
        for namespace, commits in seqs.items():
            life = self._lives[namespace]
            for tombstone in reading.tombstones(self._warehouse, namespace):
                if (seq := commits.get(tombstone.commit_id)) is not None:
                    life.removed[tombstone.episode_id].append(seq)
            for change in reading.acl_changes(self._warehouse, namespace):
                seq = commits.get(change.commit_id, 0)
                if seq > life.amended.get(change.episode_id, (0,))[0]:
                    life.amended[change.episode_id] = (seq, tuple(change.acl))

    def compare(self, window: Sequence[LedgerRecord]) -> None:
        """Compare the rows of a window of the ledger."""
        from_seq, to_seq = window[0].seq, window[-1].seq
        by_scope: dict[str, list[LedgerRecord]] = defaultdict(list)
        for row in window:
            by_scope[row.scope].append(row)
        counted: Counter[int] = Counter()
        for namespace, rows in by_scope.items():
            counted += self._compare_scope(namespace, rows, from_seq=from_seq, to_seq=to_seq)
        mirror = stored_commits(
            self._cursor, generation=self._head.generation, from_seq=from_seq, to_seq=to_seq
        )
        for row in window:
            held = mirror.pop(row.seq, None)
            if held is None:
                self._findings.add("missing", f"commits {row.seq}")
            elif held != expected_commit(
                row, self._scopes.get(row.scope), passages=counted[row.seq]
            ):
                self._findings.add("stale", f"commits {row.seq}")
            if row.seq == self._head.seq and self._head.chain_hash != row_hash(row):
                self._findings.add("stale", "ledger_head")
        for seq in mirror:
            self._findings.add("extra", f"commits {seq}")

    def compare_whole(self) -> None:
        """Compare what has no place in the ledger: strays, vectors, rights and segments."""
        stray = strays(self._cursor, generation=self._head.generation, to_seq=self._head.seq)
        for table, count in stray.items():
            self._findings.add("extra", table, times=count)
        for table, rid, n in damaged_vectors(self._cursor, generation=self._head.generation):
            self._findings.add("wrong_vector", f"{table} {rid}/{n}")
        for scope_id, entry in wrong_bitmaps(self._cursor, generation=self._head.generation):
            self._findings.add("wrong_acl", f"acl_bitmaps {scope_id}/{entry}")
        for kind, where in damaged_segments(
            self._cursor, generation=self._head.generation, to_seq=self._head.noted_seq
        ):
            self._findings.add(kind, where)

    def report(self, *, commits: int) -> VerifyReport:
        """Return what was found."""
        return VerifyReport(
            generation=self._head.generation,
            commits=commits,
            episodes=self._episodes,
            passages=self._passages,
            counts=dict(self._findings.counts),
            differences=tuple(self._findings.named),
        )

    def _compare_scope(
        self, namespace: str, rows: Sequence[LedgerRecord], *, from_seq: int, to_seq: int
    ) -> Counter[int]:
        """Compare one scope; return how many passages each of its commits has."""
        scope_id = self._scopes.get(namespace, 0)
        place = {
            "generation": self._head.generation,
            "scope_id": scope_id,
            "from_seq": from_seq,
            "to_seq": to_seq,
        }
        held = stored_rows(self._cursor, **place)
        passages = stored_passages(self._cursor, **place)
        counted: Counter[int] = Counter()
        for rid, seq, record, expected in self._expected(namespace, rows):
            where = f"{namespace} {seq}/{rid & ((1 << ROW_BITS) - 1)}"
            self._episodes += 1
            self._passages += len(expected)
            counted[seq] += len(expected)
            self._compare_row(namespace, seq, record, held.pop(rid, None), where, expected)
            for passage in expected:
                found = passages.pop((rid, passage.n), None)
                self._compare_passage(passage, found, f"{where} passage {passage.n}")
        for rid in held:
            self._findings.add("extra", f"{namespace} episode row {rid}")
        for rid, n in passages:
            self._findings.add("extra", f"{namespace} passage {rid}/{n}")
        return counted

    def _expected(
        self, namespace: str, rows: Sequence[LedgerRecord]
    ) -> Iterator[tuple[int, int, EpisodeRecord, tuple[IndexedPassage, ...]]]:
        seqs = {row.commit_id: row.seq for row in rows}
        part = reading.read_part(self._warehouse, namespace, list(seqs))
        commits: dict[int, list[EpisodeRecord]] = defaultdict(list)
        for record in part.episodes:
            commits[seqs[record.commit_id]].append(record)
        placed = [
            ((seq << ROW_BITS) | place, record)
            for seq, records in commits.items()
            for place, record in enumerate(sorted(records, key=attrgetter("episode_id")))
        ]
        for run in reading.in_parts(placed, lambda pair: pair[1].body_len):
            texts = reading.texts(self._warehouse, namespace, [record for _, record in run])
            for rid, record in run:
                unit = self._types.named(record.episode_type).unit
                passages = index_body(texts[record.body_sha256], unit, record.document)
                yield rid, rid >> ROW_BITS, record, passages

    def _compare_row(
        self,
        namespace: str,
        seq: int,
        record: EpisodeRecord,
        held: StoredRow | None,
        where: str,
        passages: Sequence[IndexedPassage],
    ) -> None:
        if held is None:
            self._findings.add("missing", where)
            return
        life = self._lives[namespace]
        amended_at, amended = life.amended.get(record.episode_id, (0, ()))
        acl = amended if amended_at > seq else tuple(record.acl)
        if held.acl != acl:
            self._findings.add("wrong_acl", where)
        removed = [at for at in life.removed.get(record.episode_id, ()) if at > seq]
        expected = expected_row(
            record, passages, seq=seq, acl=held.acl, gone_seq=min(removed, default=None)
        )
        if held != expected:
            self._findings.add("stale", where)

    def _compare_passage(
        self, expected: IndexedPassage, held: StoredPassage | None, where: str
    ) -> None:
        if held is None:
            self._findings.add("missing", where)
            return
        if not held.agrees:
            self._findings.add("wrong_acl", where)
        if held != expected_passage(expected, agrees=held.agrees):
            self._findings.add("stale", where)
