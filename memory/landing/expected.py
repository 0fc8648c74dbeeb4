"""What the index's rows must hold, computed from the tables' records alone."""

from collections.abc import Sequence

from memory.domain.chain import row_hash
from memory.domain.indexed import IndexedPassage
from memory.domain.records import EpisodeRecord, LedgerRecord
from memory.search.stored import StoredCommit, StoredPassage, StoredRow


def expected_commit(row: LedgerRecord, scope_id: int | None, *, passages: int) -> StoredCommit:
    """Return a ledger row's mirror."""
    return StoredCommit(
        commit_id=row.commit_id,
        scope_id=scope_id,
        branch_id=row.branch_id,
        kind=row.kind,
        author=row.author,
        batch_id=row.batch_id,
        job_id=row.job_id,
        message=row.message,
        episode_count=row.episode_count,
        fact_count=row.fact_count,
        passage_count=passages,
        payload_hash=row.payload_hash,
        chain_hash=row_hash(row),
        committed_at=row.committed_at,
    )


def expected_row(
    record: EpisodeRecord,
    passages: Sequence[IndexedPassage],
    *,
    seq: int,
    acl: tuple[str, ...],
    gone_seq: int | None,
) -> StoredRow:
    """Return an episode's row.

    Args:
        acl: the one that holds now.
        gone_seq: the commit that made this row gone.
    """
    return StoredRow(
        branch_id=record.branch_id,
        seq=seq,
        episode_id=record.episode_id,
        source=record.source,
        episode_type=record.episode_type,
        document=record.document,
        version_of=record.version_of,
        occurred_at=record.occurred_at,
        recorded_at=record.recorded_at,
        author=record.author,
        origin_commit_id=record.origin_commit_id,
        about=tuple(record.about),
        tags=tuple(record.tags),
        meta=record.meta,
        body_sha256=record.body_sha256,
        body_len=record.body_len,
        passages=len(passages),
        lexemes=sum(passage.lexemes for passage in passages),
        acl=acl,
        gone_seq=gone_seq,
    )


def expected_passage(passage: IndexedPassage, *, agrees: bool) -> StoredPassage:
    """Return a passage's row."""
    return StoredPassage(
        first_unit=passage.first_unit,
        last_unit=passage.last_unit,
        content=passage.content,
        text=passage.text,
        terms=passage.terms,
        agrees=agrees,
    )
