"""Damage planted by hand in the index is found, named by its kind, and healed by a rebuild."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
import pytest

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from memory.engine import Engine
from memory.search.ddl import PARTITIONED
from memory.search.folding import fold_waiting
from memory.search.heads import live_head
from memory.search.vectors import PassageVector, add_vectors
from memory.services import indexing
from memory.services.episodes import amend_acl, forget, ingest, remember
from tests.builders import episode, note

_ANY: Final = "ctid = (SELECT ctid FROM {table} ORDER BY {order} LIMIT 1)"


def one(table: str, order: str = "seq") -> str:
    """Return the condition that picks one row of a table."""
    return _ANY.format(table=table, order=order)


DAMAGES: Final = {
    "an episode row that is missing": (
        f"DELETE FROM episode_rows_g1 WHERE {one('episode_rows_g1')}",
        {"missing"},
    ),
    "a passage that is missing": (
        f"DELETE FROM passages_g1 WHERE {one('passages_g1')}",
        {"missing"},
    ),
    "a commit that is missing": (f"DELETE FROM commits_g1 WHERE {one('commits_g1')}", {"missing"}),
    "a passage too many": (
        "INSERT INTO passages_g1 SELECT generation, scope_id, branch_id, seq, rid, 99, acl_set_id,"
        f" occurred_at, thread, first_unit, last_unit, content, text, terms FROM passages_g1"
        f" WHERE {one('passages_g1')}",
        {"extra"},
    ),
    "an episode row that nothing landed": (
        "INSERT INTO episode_rows_g1 SELECT generation, scope_id, branch_id, seq, rid + 500,"
        " acl_set_id, episode_id, source, episode_type, document, version_of, occurred_at,"
        " recorded_at, author, about, tags, meta, body_sha256, body_len, 0, 0, origin_commit_id"
        f" FROM episode_rows_g1 WHERE {one('episode_rows_g1')}",
        {"extra"},
    ),
    "rows after the head": (
        "INSERT INTO gone_g1 SELECT generation, scope_id, branch_id, rid, 999, kind FROM gone_g1",
        {"extra"},
    ),
    "rows of a scope that is none": (
        f"UPDATE passages_g1 SET scope_id = 999 WHERE {one('passages_g1')}",
        {"extra", "missing"},
    ),
    "a term that is another": (
        "UPDATE passages_g1 SET terms = set_byte(terms, 8, (get_byte(terms, 8) + 1) % 256)"
        f" WHERE {one('passages_g1')}",
        {"stale"},
    ),
    "a list of a term nobody wrote": (
        "INSERT INTO postings_g1 SELECT generation, scope_id, branch_id, segment, term + 1,"
        f" numbers, counts FROM postings_g1 WHERE {one('postings_g1', 'term')}",
        {"extra"},
    ),
    "a list that is missing": (
        f"DELETE FROM postings_g1 WHERE {one('postings_g1', 'term')}",
        {"missing"},
    ),
    "a list with another frequency": (
        "UPDATE postings_g1 SET counts = set_byte(counts, 0, 77)"
        f" WHERE {one('postings_g1', 'term')}",
        {"stale"},
    ),
    "a list that names another passage": (
        "UPDATE postings_g1 SET numbers = set_byte(numbers, 0, 77)"
        f" WHERE {one('postings_g1', 'term')}",
        {"stale"},
    ),
    "lists of a segment that is none": (
        f"DELETE FROM segments_g1 WHERE {one('segments_g1', 'segment')}",
        {"extra", "stale"},
    ),
    "a segment with another ACL": (
        "UPDATE segments_g1 SET acl_sets = set_byte(acl_sets, 0, 77)",
        {"stale"},
    ),
    "a segment that ends elsewhere": (
        "UPDATE segments_g1 SET to_rid = to_rid + 1",
        {"stale"},
    ),
    "other counts of what waits": (
        "UPDATE folds_g1 SET waiting = waiting + 1",
        {"stale"},
    ),
    "another text": (
        f"UPDATE passages_g1 SET text = text || '.' WHERE {one('passages_g1')}",
        {"stale"},
    ),
    "other frequencies": (
        "UPDATE passages_g1 SET terms = set_byte(terms, length(terms) - 1, 77)"
        f" WHERE {one('passages_g1')}",
        {"stale"},
    ),
    "another source": (
        f"UPDATE episode_rows_g1 SET source = 'note:changed' WHERE {one('episode_rows_g1')}",
        {"stale"},
    ),
    "a row at another place in history": (
        f"UPDATE episode_rows_g1 SET seq = seq + 1 WHERE {one('episode_rows_g1')}",
        {"stale"},
    ),
    "another length": (
        f"UPDATE episode_rows_g1 SET lexemes = lexemes + 1 WHERE {one('episode_rows_g1')}",
        {"stale"},
    ),
    "a row that carries another ACL": (
        "UPDATE episode_rows_g1 SET acl_set_id = (SELECT acl_set_id FROM acl_sets_g1"
        " WHERE entries = '{user:other}') WHERE source = 'note:hidden'",
        {"wrong_acl"},
    ),
    "a passage that carries another time": (
        f"UPDATE passages_g1 SET occurred_at = occurred_at + 1 WHERE {one('passages_g1')}",
        {"wrong_acl"},
    ),
    "a passage that carries another ACL": (
        f"UPDATE passages_g1 SET acl_set_id = acl_set_id + 1 WHERE {one('passages_g1')}",
        {"wrong_acl"},
    ),
    "an ACL with another entry": (
        "UPDATE acl_sets_g1 SET entries = '{user:mallory}' WHERE entries = '{user:priya}'",
        {"wrong_acl"},
    ),
    "an amendment that is missing": ("DELETE FROM acl_current_g1", {"wrong_acl"}),
    "a bitmap that lets somebody see": (
        "UPDATE acl_bitmaps_g1 SET bitmap = (SELECT bitmap FROM acl_bitmaps_g1"
        " WHERE entry = 'user:priya') WHERE entry = 'user:other'",
        {"wrong_acl"},
    ),
    "a bitmap of somebody who holds nothing": (
        "INSERT INTO acl_bitmaps_g1 SELECT generation, scope_id, 'user:mallory', bitmap"
        " FROM acl_bitmaps_g1 WHERE entry = 'user:priya'",
        {"wrong_acl"},
    ),
    "a bitmap that is missing": ("DELETE FROM acl_bitmaps_g1 WHERE entry = '*'", {"wrong_acl"}),
    "an episode that is gone and should not be": (
        "INSERT INTO gone_g1 SELECT generation, scope_id, branch_id, rid, seq, 'removed'"
        " FROM episode_rows_g1 WHERE source = 'note:hidden'",
        {"stale"},
    ),
    "a removal that is missing": ("DELETE FROM gone_g1", {"stale"}),
    "another vector": (
        "UPDATE vectors_tail_g1 SET vector = '[9,9,9]'::halfvec",
        {"wrong_vector"},
    ),
    "a vector of another passage": (
        "UPDATE vectors_tail_g1 SET content = sha256('other')",
        {"wrong_vector"},
    ),
    "a vector with another ACL": (
        "UPDATE vectors_tail_g1 SET acl_set_id = acl_set_id + 1",
        {"wrong_vector"},
    ),
    "another commit": (
        f"UPDATE commits_g1 SET commit_id = 'c_other' WHERE {one('commits_g1')}",
        {"stale"},
    ),
    "a commit of another author": (
        f"UPDATE commits_g1 SET author = 'user:mallory' WHERE {one('commits_g1')}",
        {"stale"},
    ),
    "a head on another chain": (
        "UPDATE ledger_head SET chain_hash = repeat('0', 64) WHERE state = 'live'",
        {"stale"},
    ),
}


@pytest.fixture
def stored(engine: Engine, owner: Caller, org: Scope) -> Engine:
    """A little of everything: ACLs, an amendment, a removal, a vector."""
    drafts = [
        episode("One of many.", source="note:one"),
        episode("Hidden from most.", source="note:hidden", acl=("user:priya",)),
        episode("Hidden from others.", source="note:other", acl=("user:other",)),
    ]
    kept = ingest(engine, owner, org, drafts).wait()
    gone = remember(engine, owner, org, note("Soon forgotten.")).wait()
    forget(engine, owner, org, gone.episode_id).wait()
    amend_acl(
        engine, owner, org, kept.episodes[0].episode_id, acl=["group:sales"], expected=["*"]
    ).wait()
    with engine.index.connect(application="test") as connection, connection.cursor() as cursor:
        [(scope_id, rid)] = cursor.execute(
            "SELECT scope_id, rid FROM passages_g1 WHERE text = 'One of many.'"
        ).fetchall()
        vector = PassageVector(rid=rid, n=1, embedder="drawn", part=0, values=(0.1, 0.2, 0.3))
        assert add_vectors(cursor, generation=1, scope_id=scope_id, vectors=[vector]) == 1
        # All but what lands last: some is folded, some waits.
        assert fold_waiting(connection, live_head(cursor), at_least=2) == 4
    remember(engine, owner, org, note("For everyone.")).wait()
    return engine


@contextmanager
def planted(connection: psycopg.Connection, statement: str) -> Iterator[None]:
    """Do damage, and put every table back as it was."""
    tables = [*(f"{table}_g1" for table in PARTITIONED), "ledger_head"]
    with connection.transaction():
        for table in tables:
            connection.execute(f"CREATE TEMP TABLE saved_{table} AS TABLE {table}")
        assert connection.execute(statement).rowcount > 0
    yield
    with connection.transaction():
        for table in tables:
            connection.execute(f"DELETE FROM {table}")
            connection.execute(f"INSERT INTO {table} SELECT * FROM saved_{table}")
            connection.execute(f"DROP TABLE saved_{table}")


def test_damage_of_every_kind_is_found_and_told_by_its_kind(stored: Engine) -> None:
    """Documented: architecture, section 6, `index verify`; nothing else is told beside it."""
    assert indexing.verify(stored).clean
    told = {}
    with stored.index.connect(application="test") as connection:
        for name, (statement, _) in DAMAGES.items():
            with planted(connection, statement):
                told[name] = set(indexing.verify(stored).counts)
        assert indexing.verify(stored).clean
    wanted = {name: kinds for name, (_, kinds) in DAMAGES.items()}
    missed = {name: told[name] for name in wanted if not wanted[name] <= told[name]}
    assert missed == {}
