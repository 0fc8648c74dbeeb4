"""Reads a generation's rows as they are stored, for comparison with what they should be."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import psycopg

from memory.domain.neighbours import thread_number
from memory.search import ddl
from memory.search.rows import ROW_BITS
from memory.search.vectors import fingerprint


@dataclass(frozen=True, slots=True)
class StoredRow:
    """An episode row: what it holds, the ACL that counts now, and which commit made it gone."""

    branch_id: int
    seq: int
    episode_id: str
    source: str
    episode_type: str
    document: str | None
    version_of: str | None
    occurred_at: int
    recorded_at: int
    author: str | None
    origin_commit_id: str | None
    about: tuple[str, ...]
    tags: tuple[str, ...]
    meta: str | None
    body_sha256: str
    body_len: int
    passages: int
    lexemes: int
    acl: tuple[str, ...]
    gone_seq: int | None


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage row; `agrees` says whether it carries what its episode row has."""

    first_unit: int
    last_unit: int
    content: bytes
    text: str
    terms: bytes
    agrees: bool


@dataclass(frozen=True, slots=True)
class StoredCommit:
    """A row of the ledger's mirror."""

    commit_id: str
    scope_id: int | None
    branch_id: int
    kind: str
    author: str
    batch_id: str
    job_id: str | None
    message: str | None
    episode_count: int
    fact_count: int
    passage_count: int
    payload_hash: str
    chain_hash: str
    committed_at: int


_ROWS: Final = f"""
SELECT held.rid, held.branch_id, held.seq, held.episode_id, held.source, held.episode_type,
       held.document, held.version_of, held.occurred_at, held.recorded_at, held.author,
       held.origin_commit_id, held.about, held.tags, held.meta, held.body_sha256, held.body_len,
       held.passages, held.lexemes, coalesce(sets.entries, '{{}}'), gone.seq
FROM {ddl.SCHEMA}.episode_rows AS held
LEFT JOIN {ddl.SCHEMA}.acl_current AS present
  ON present.generation = held.generation AND present.scope_id = held.scope_id
 AND present.rid = held.rid
LEFT JOIN {ddl.SCHEMA}.acl_sets AS sets
  ON sets.generation = held.generation
 AND sets.acl_set_id = coalesce(present.acl_set_id, held.acl_set_id)
LEFT JOIN {ddl.SCHEMA}.gone AS gone
  ON gone.generation = held.generation AND gone.scope_id = held.scope_id
 AND gone.rid = held.rid AND gone.branch_id = 0
WHERE held.generation = %s AND held.scope_id = %s AND held.rid >= %s AND held.rid < %s
"""

_PASSAGES: Final = f"""
SELECT rid, n, first_unit, last_unit, content, text, terms,
       acl_set_id, seq, branch_id, occurred_at, thread
FROM {ddl.SCHEMA}.passages
WHERE generation = %s AND scope_id = %s AND rid >= %s AND rid < %s
"""
_CARRIED: Final = f"""
SELECT rid, source, passages, acl_set_id, seq, branch_id, occurred_at FROM {ddl.SCHEMA}.episode_rows
WHERE generation = %s AND scope_id = %s AND rid >= %s AND rid < %s
"""


def _range(from_seq: int, to_seq: int) -> tuple[int, int]:
    return from_seq << ROW_BITS, (to_seq + 1) << ROW_BITS


def stored_rows(
    cursor: psycopg.Cursor, *, generation: int, scope_id: int, from_seq: int, to_seq: int
) -> dict[int, StoredRow]:
    """Return the episode rows of a range of seqs by rid."""
    cursor.execute(_ROWS, (generation, scope_id, *_range(from_seq, to_seq)))
    rows: dict[int, StoredRow] = {}
    for rid, branch_id, seq, episode, *plain, sha256, size, passages, words, acl, gone in cursor:
        source, kind, document, version_of, occurred_at, recorded_at, *more = plain
        author, origin, about, tags, meta = more
        rows[rid] = StoredRow(
            branch_id=branch_id,
            seq=seq,
            episode_id=bytes(episode).hex(),
            source=source,
            episode_type=kind,
            document=document,
            version_of=version_of,
            occurred_at=occurred_at,
            recorded_at=recorded_at,
            author=author,
            origin_commit_id=origin,
            about=tuple(about),
            tags=tuple(tags),
            meta=meta,
            body_sha256=bytes(sha256).hex(),
            body_len=size,
            passages=passages,
            lexemes=words,
            acl=tuple(acl),
            gone_seq=gone,
        )
    return rows


def stored_passages(
    cursor: psycopg.Cursor, *, generation: int, scope_id: int, from_seq: int, to_seq: int
) -> dict[tuple[int, int], StoredPassage]:
    """Return the passages of a range of seqs by (rid, n)."""
    place = (generation, scope_id, *_range(from_seq, to_seq))
    # Not joined: where statistics do not know a scope yet, each row could cost a scan of it.
    carried = {
        rid: (*row, thread_number(source, passages=passages, rid=rid))
        for rid, source, passages, *row in cursor.execute(_CARRIED, place)
    }
    return {
        (rid, n): StoredPassage(
            first, last, bytes(content), text, bytes(terms), carried.get(rid) == tuple(row)
        )
        for rid, n, first, last, content, text, terms, *row in cursor.execute(_PASSAGES, place)
    }


def stored_commits(
    cursor: psycopg.Cursor, *, generation: int, from_seq: int, to_seq: int
) -> dict[int, StoredCommit]:
    """Return the mirror's rows of a range of seqs."""
    cursor.execute(
        "SELECT seq, commit_id, scope_id, branch_id, kind, author, batch_id, job_id, message,"
        " episode_count, fact_count, passage_count, payload_hash, chain_hash, committed_at"
        f" FROM {ddl.SCHEMA}.commits WHERE generation = %s AND seq BETWEEN %s AND %s",
        (generation, from_seq, to_seq),
    )
    return {seq: StoredCommit(*fields) for seq, *fields in cursor}


def strays(cursor: psycopg.Cursor, *, generation: int, to_seq: int) -> dict[str, int]:
    """Count rows that no scope or no landed commit accounts for, by table."""
    found: dict[str, int] = {}
    for table in ("episode_rows", "passages", "gone", "vectors", "vectors_tail", "acl_current"):
        row = cursor.execute(
            f"SELECT count(*) FROM {ddl.SCHEMA}.{table} AS held WHERE held.generation = %s"
            f" AND (held.seq > %s OR NOT EXISTS (SELECT 1 FROM {ddl.SCHEMA}.scopes AS scope"
            "  WHERE scope.scope_id = held.scope_id))",
            (generation, to_seq),
        ).fetchone()
        if row and row[0]:
            found[table] = row[0]
    return found


def damaged_vectors(cursor: psycopg.Cursor, *, generation: int) -> Iterator[tuple[str, int, int]]:
    """Yield (what, rid, n) of vectors that are not their passage's, or not what was stored."""
    for table in ("vectors", "vectors_tail"):
        cursor.execute(
            "SELECT held.rid, held.n, held.fingerprint, halfvec_send(held.vector),"
            " coalesce(passage.content = held.content"
            "          AND passage.acl_set_id = held.acl_set_id, false)"
            f" FROM {ddl.SCHEMA}.{table} AS held"
            f" LEFT JOIN {ddl.SCHEMA}.passages AS passage"
            " ON passage.generation = held.generation AND passage.scope_id = held.scope_id"
            " AND passage.rid = held.rid AND passage.n = held.n"
            " WHERE held.generation = %s",
            (generation,),
        )
        for rid, n, stored, vector, agrees in cursor:
            if not agrees or fingerprint(bytes(vector)) != bytes(stored):
                yield table, rid, n
