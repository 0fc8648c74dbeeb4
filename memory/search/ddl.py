"""The derived index's tables in Postgres: a schema of their own, one partition a generation.

Nothing here is the truth, so it is no Django migration: the whole schema may be dropped and is
made again and filled from the Iceberg tables by `index rebuild`. Rows are insert-only but for
`ledger_head`, the bitmaps, `acl_current`, and what folding joins.
"""

import logging
from typing import Final

import psycopg

logger = logging.getLogger(__name__)

SCHEMA: Final = "ampup_index"

_LAYOUT: Final = "layout 2"
"""Changes with any of the tables' columns, and with how the packed ones are read."""

PARTITIONED: Final = (
    "episode_rows",
    "passages",
    "vectors_tail",
    "vectors",
    "commits",
    "gone",
    "acl_sets",
    "acl_bitmaps",
    "acl_current",
    "segments",
    "postings",
    "folds",
)
"""Tables with one partition a generation, so that an old one is dropped and not deleted from."""

_TABLES: Final = f"""
CREATE EXTENSION IF NOT EXISTS vector;
CREATE SCHEMA IF NOT EXISTS {SCHEMA};
SET LOCAL search_path TO {SCHEMA}, public;

CREATE TABLE IF NOT EXISTS scopes (
    scope_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace text NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS ledger_head (
    generation int PRIMARY KEY,
    state text NOT NULL CHECK (state IN ('building', 'live', 'retired')),
    seq bigint NOT NULL,
    chain_hash text NOT NULL,
    committed_at bigint NOT NULL,
    analyzer text NOT NULL,
    next_acl_set int NOT NULL DEFAULT 1,
    noted_seq bigint NOT NULL DEFAULT 0,
    embedder text,
    embedded_seq bigint NOT NULL DEFAULT 0,
    retired_at bigint
) WITH (fillfactor = 10);
CREATE UNIQUE INDEX IF NOT EXISTS ledger_head_live ON ledger_head (state) WHERE state = 'live';

CREATE TABLE IF NOT EXISTS episode_rows (
    generation int NOT NULL,
    scope_id int NOT NULL,
    branch_id bigint NOT NULL,
    seq bigint NOT NULL,
    rid bigint NOT NULL,
    acl_set_id int NOT NULL,
    episode_id bytea NOT NULL,
    source text NOT NULL,
    episode_type text NOT NULL,
    document text,
    version_of text,
    occurred_at bigint NOT NULL,
    recorded_at bigint NOT NULL,
    author text,
    about text[] NOT NULL,
    tags text[] NOT NULL,
    meta text,
    body_sha256 bytea NOT NULL,
    body_len bigint NOT NULL,
    passages int NOT NULL,
    lexemes bigint NOT NULL,
    origin_commit_id text
) PARTITION BY LIST (generation);

CREATE TABLE IF NOT EXISTS passages (
    generation int NOT NULL,
    scope_id int NOT NULL,
    branch_id bigint NOT NULL,
    seq bigint NOT NULL,
    rid bigint NOT NULL,
    n int NOT NULL,
    acl_set_id int NOT NULL,
    occurred_at bigint NOT NULL,
    thread bigint NOT NULL,
    first_unit int NOT NULL,
    last_unit int NOT NULL,
    content bytea NOT NULL,
    text text NOT NULL,
    terms bytea NOT NULL
) PARTITION BY LIST (generation);

CREATE TABLE IF NOT EXISTS vectors_tail (
    generation int NOT NULL,
    scope_id int NOT NULL,
    branch_id bigint NOT NULL,
    seq bigint NOT NULL,
    rid bigint NOT NULL,
    n int NOT NULL,
    acl_set_id int NOT NULL,
    embedder text NOT NULL,
    content bytea NOT NULL,
    part smallint NOT NULL,
    fingerprint bytea NOT NULL,
    vector halfvec NOT NULL
) PARTITION BY LIST (generation);
CREATE TABLE IF NOT EXISTS vectors (LIKE vectors_tail) PARTITION BY LIST (generation);

CREATE TABLE IF NOT EXISTS commits (
    generation int NOT NULL,
    seq bigint NOT NULL,
    commit_id text NOT NULL,
    scope_id int NOT NULL,
    branch_id bigint NOT NULL,
    kind text NOT NULL,
    author text NOT NULL,
    batch_id text NOT NULL,
    job_id text,
    message text,
    episode_count int NOT NULL,
    fact_count int NOT NULL,
    passage_count int NOT NULL,
    payload_hash text NOT NULL,
    chain_hash text NOT NULL,
    committed_at bigint NOT NULL
) PARTITION BY LIST (generation);

CREATE TABLE IF NOT EXISTS gone (
    generation int NOT NULL,
    scope_id int NOT NULL,
    branch_id bigint NOT NULL,
    rid bigint NOT NULL,
    seq bigint NOT NULL,
    kind text NOT NULL CHECK (kind IN ('removed', 'superseded'))
) PARTITION BY LIST (generation);

CREATE TABLE IF NOT EXISTS acl_sets (
    generation int NOT NULL,
    acl_set_id int NOT NULL,
    key bytea NOT NULL,
    entries text[] NOT NULL
) PARTITION BY LIST (generation);
CREATE TABLE IF NOT EXISTS acl_bitmaps (
    generation int NOT NULL,
    scope_id int NOT NULL,
    entry text NOT NULL,
    bitmap bytea NOT NULL
) PARTITION BY LIST (generation);
CREATE TABLE IF NOT EXISTS acl_current (
    generation int NOT NULL,
    scope_id int NOT NULL,
    rid bigint NOT NULL,
    acl_set_id int NOT NULL,
    seq bigint NOT NULL
) PARTITION BY LIST (generation);

CREATE TABLE IF NOT EXISTS segments (
    generation int NOT NULL,
    scope_id int NOT NULL,
    branch_id bigint NOT NULL,
    segment bigint NOT NULL,
    passages int NOT NULL,
    to_rid bigint NOT NULL,
    rids bytea STORAGE EXTERNAL NOT NULL,
    acl_sets bytea STORAGE EXTERNAL NOT NULL,
    lengths bytea STORAGE EXTERNAL NOT NULL,
    occurred bytea STORAGE EXTERNAL NOT NULL,
    threads bytea STORAGE EXTERNAL NOT NULL,
    flags bytea STORAGE EXTERNAL NOT NULL
) PARTITION BY LIST (generation);
CREATE TABLE IF NOT EXISTS postings (
    generation int NOT NULL,
    scope_id int NOT NULL,
    branch_id bigint NOT NULL,
    segment bigint NOT NULL,
    term bigint NOT NULL,
    numbers bytea STORAGE EXTERNAL NOT NULL,
    counts bytea STORAGE EXTERNAL NOT NULL
) PARTITION BY LIST (generation);
CREATE TABLE IF NOT EXISTS folds (
    generation int NOT NULL,
    scope_id int NOT NULL,
    branch_id bigint NOT NULL,
    waiting bigint NOT NULL
) PARTITION BY LIST (generation);
"""

_KEYS: Final = (
    "CREATE UNIQUE INDEX IF NOT EXISTS episode_rows_g{g}_rid ON episode_rows_g{g} (scope_id, rid)",
    "CREATE INDEX IF NOT EXISTS episode_rows_g{g}_episode"
    " ON episode_rows_g{g} (scope_id, episode_id, seq)",
    "CREATE INDEX IF NOT EXISTS episode_rows_g{g}_body"
    " ON episode_rows_g{g} (scope_id, body_sha256)",
    "CREATE INDEX IF NOT EXISTS episode_rows_g{g}_occurred"
    " ON episode_rows_g{g} (scope_id, occurred_at, rid)",
    "CREATE INDEX IF NOT EXISTS episode_rows_g{g}_document"
    " ON episode_rows_g{g} (scope_id, document) WHERE document IS NOT NULL",
    "CREATE UNIQUE INDEX IF NOT EXISTS passages_g{g}_rid ON passages_g{g} (scope_id, rid, n)",
    "CREATE UNIQUE INDEX IF NOT EXISTS vectors_tail_g{g}_key"
    " ON vectors_tail_g{g} (scope_id, rid, n, part, embedder)",
    "CREATE UNIQUE INDEX IF NOT EXISTS vectors_g{g}_key"
    " ON vectors_g{g} (scope_id, rid, n, part, embedder)",
    "CREATE UNIQUE INDEX IF NOT EXISTS commits_g{g}_seq ON commits_g{g} (seq)",
    "CREATE UNIQUE INDEX IF NOT EXISTS commits_g{g}_id ON commits_g{g} (commit_id)",
    "CREATE UNIQUE INDEX IF NOT EXISTS gone_g{g}_rid ON gone_g{g} (scope_id, rid, branch_id, seq)",
    "CREATE UNIQUE INDEX IF NOT EXISTS acl_sets_g{g}_id ON acl_sets_g{g} (acl_set_id)",
    "CREATE UNIQUE INDEX IF NOT EXISTS acl_sets_g{g}_key ON acl_sets_g{g} (key)",
    "CREATE UNIQUE INDEX IF NOT EXISTS acl_bitmaps_g{g}_entry"
    " ON acl_bitmaps_g{g} (scope_id, entry)",
    "CREATE UNIQUE INDEX IF NOT EXISTS acl_current_g{g}_rid ON acl_current_g{g} (scope_id, rid)",
    "CREATE UNIQUE INDEX IF NOT EXISTS segments_g{g}_segment"
    " ON segments_g{g} (scope_id, branch_id, segment)",
    "CREATE UNIQUE INDEX IF NOT EXISTS postings_g{g}_term"
    " ON postings_g{g} (scope_id, branch_id, segment, term)",
    "CREATE UNIQUE INDEX IF NOT EXISTS folds_g{g}_scope ON folds_g{g} (scope_id, branch_id)",
)


def ensure_tables(connection: psycopg.Connection) -> None:
    """Make the schema and its tables where they are missing; safe to race, changes no row.

    Tables of another layout are dropped with all their rows: they are derived, and who asks for
    them next fills them again from the Iceberg tables.
    """
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtext('ampup_index.ddl'))")
        row = connection.execute(
            "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace"
            " WHERE nspname = %s",
            (SCHEMA,),
        ).fetchone()
        if row is not None and row[0] != _LAYOUT:
            logger.warning("the index has the layout of another version and is made anew")
            connection.execute(f"DROP SCHEMA {SCHEMA} CASCADE")
        connection.execute(_TABLES)
        connection.execute(f"COMMENT ON SCHEMA {SCHEMA} IS '{_LAYOUT}'")


def create_partitions(connection: psycopg.Connection, generation: int) -> None:
    """Make the empty partitions of a generation, without any index."""
    for table in PARTITIONED:
        name, parent = f"{SCHEMA}.{table}_g{generation}", f"{SCHEMA}.{table}"
        # Attached rather than made as a partition: that would lock out the parent's readers.
        connection.execute(f"CREATE TABLE {name} (LIKE {parent} INCLUDING ALL)")
        connection.execute(f"ALTER TABLE {name} ADD CHECK (generation = {generation})")
        connection.execute(
            f"ALTER TABLE {parent} ATTACH PARTITION {name} FOR VALUES IN ({generation})"
        )
    passages = f"{SCHEMA}.passages_g{generation}"
    # Three passages a page, uncompressed: as small as compressed and out of line, at half the cost.
    connection.execute(f"ALTER TABLE {passages} SET (toast_tuple_target = 8160)")
    for table in ("passages", "episode_rows"):
        connection.execute(
            f"ALTER TABLE {SCHEMA}.{table}_g{generation}"
            " SET (autovacuum_vacuum_insert_scale_factor = 0.5)"
        )


def create_keys(connection: psycopg.Connection, generation: int) -> None:
    """Make the B-trees of a generation: what landings, lookups and lists need."""
    connection.execute(f"SET LOCAL search_path TO {SCHEMA}, public")
    for statement in _KEYS:
        connection.execute(statement.format(g=generation))


def drop_partitions(connection: psycopg.Connection, generation: int) -> None:
    """Drop a generation's partitions one by one, without holding up anybody's read or write.

    Not inside a transaction. What was begun and not ended is ended.
    """
    for table in PARTITIONED:
        name, parent = f"{SCHEMA}.{table}_g{generation}", f"{SCHEMA}.{table}"
        row = connection.execute(
            "SELECT inhdetachpending FROM pg_inherits WHERE inhrelid = to_regclass(%s)", (name,)
        ).fetchone()
        if row is not None:
            how = "FINALIZE" if row[0] else "CONCURRENTLY"
            connection.execute(f"ALTER TABLE {parent} DETACH PARTITION {name} {how}")
        connection.execute(f"DROP TABLE IF EXISTS {name}")
