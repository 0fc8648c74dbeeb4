"""What a read sees, by condition in SQL and by arrays, is what the model sees, on real rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ampup_site.kernel.clock import Micros
from memory.domain.analyzer import analyze
from memory.domain.lineage import BranchId, Lineage, Piece, Seq, on_lineage
from memory.domain.postings import pack
from memory.domain.read_context import ReadContext
from memory.engine import Engine
from memory.search.folding import Branch, fold_once
from memory.search.lineage_sql import visible_rows
from memory.search.rows import ROW_BITS
from memory.search.segments import read_corpus

SCOPE, OTHER_SCOPE = 7_001, 7_002
BRANCHES = (0, 3, 8)


@dataclass(frozen=True, order=True)
class Row:
    """A row of an episode, and what happened to it later: (branch, seq) of each removal."""

    scope_id: int
    branch_id: int
    seq: int
    acl_set_id: int
    present: int | None
    gone: tuple[tuple[int, int], ...]


seqs = st.integers(1, 12)
rows = st.lists(
    st.builds(
        Row,
        st.sampled_from((SCOPE, SCOPE, SCOPE, OTHER_SCOPE)),
        st.sampled_from(BRANCHES),
        seqs,
        st.integers(1, 4),
        st.none() | st.integers(1, 4),
        st.lists(st.tuples(st.sampled_from(BRANCHES), seqs), max_size=2, unique=True).map(tuple),
    ),
    max_size=10,
)
lineages = st.lists(
    st.builds(
        Piece,
        st.sampled_from(BRANCHES).map(BranchId),
        seqs.map(Seq),
        seqs.map(Seq),
    ),
    max_size=3,
).map(tuple)
sets = st.none() | st.lists(st.integers(1, 4), max_size=3, unique=True).map(tuple)


def placed(drawn: Sequence[Row]) -> list[tuple[int, Row]]:
    """Give each row its number: its seq and its place."""
    return sorted((row.seq << ROW_BITS | place, row) for place, row in enumerate(drawn))


def expected(drawn: Sequence[Row], lineage: Lineage, visible: tuple[int, ...] | None) -> list[int]:
    """Return the rids of the rows that may be seen."""
    return [
        rid
        for rid, row in placed(drawn)
        if row.scope_id == SCOPE
        and on_lineage(lineage, branch_id=row.branch_id, seq=row.seq)
        and not any(on_lineage(lineage, branch_id=branch, seq=seq) for branch, seq in row.gone)
        and (visible is None or (row.present or row.acl_set_id) in visible)
    ]


@pytest.fixture
def connection(engine: Engine) -> Iterator[psycopg.Connection]:
    with engine.index.connect(application="test") as connection:
        yield connection


def store_passages(cursor: psycopg.Cursor, drawn: Sequence[Row]) -> None:
    """Give each row two passages that hold the word `row`."""
    terms = pack((analyze("a row"), analyze("")))
    cursor.executemany(
        "INSERT INTO ampup_index.passages_g1 (generation, scope_id, branch_id, seq, rid, n,"
        " acl_set_id, occurred_at, thread, first_unit, last_unit, content, text, terms)"
        " VALUES (1, %s, %s, %s, %s, %s, %s, 0, %s, 1, 1, '', '', %s)",
        [
            (row.scope_id, row.branch_id, row.seq, rid, n, row.acl_set_id, rid, terms)
            for rid, row in placed(drawn)
            for n in (1, 2)
        ],
    )


def store(cursor: psycopg.Cursor, drawn: Sequence[Row]) -> None:
    """Write the rows into the first generation."""
    cursor.executemany(
        "INSERT INTO ampup_index.episode_rows_g1 (generation, scope_id, branch_id, seq, rid,"
        " acl_set_id, episode_id, source, episode_type, occurred_at, recorded_at, about, tags,"
        " body_sha256, body_len, passages, lexemes)"
        " VALUES (1, %s, %s, %s, %s, %s, '', '', '', 0, 0, '{}', '{}', '', 0, 0, 0)",
        [(row.scope_id, row.branch_id, row.seq, rid, row.acl_set_id) for rid, row in placed(drawn)],
    )
    cursor.executemany(
        "INSERT INTO ampup_index.gone_g1 (generation, scope_id, branch_id, rid, seq, kind)"
        " VALUES (1, %s, %s, %s, %s, 'removed')",
        [
            (row.scope_id, branch, rid, seq)
            for rid, row in placed(drawn)
            for branch, seq in row.gone
        ],
    )
    cursor.executemany(
        "INSERT INTO ampup_index.acl_current_g1 (generation, scope_id, rid, acl_set_id, seq)"
        " VALUES (1, %s, %s, %s, 1)",
        [(row.scope_id, rid, row.present) for rid, row in placed(drawn) if row.present],
    )


def reading(drawn: Sequence[Row], lineage: Lineage, visible: tuple[int, ...] | None) -> ReadContext:
    """Return the context of a read of the first generation."""
    return ReadContext(
        namespace="org_default",
        scope_id=SCOPE,
        generation=1,
        lineage=lineage,
        head=Seq(12),
        at=Micros(0),
        visible=visible,
        amended=any(row.present for row in drawn),
    )


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(drawn=rows, lineage=lineages, visible=sets)
def test_the_rows_a_read_sees_are_those_of_the_model(
    connection: psycopg.Connection,
    drawn: list[Row],
    lineage: Lineage,
    visible: tuple[int, ...] | None,
) -> None:
    """Documented: architecture, section 6: pieces, rows made gone, and rights as they are now."""
    context = reading(drawn, lineage, visible)
    seen = visible_rows(context, "held")
    with connection.transaction(force_rollback=True), connection.cursor() as cursor:
        store(cursor, drawn)
        found = cursor.execute(
            "SELECT held.rid FROM ampup_index.episode_rows AS held"
            f" WHERE {seen.sql} ORDER BY held.rid",
            seen.params,
        ).fetchall()
    assert [rid for (rid,) in found] == expected(drawn, lineage, visible)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(drawn=rows, lineage=lineages, visible=sets, folds=st.lists(st.integers(1, 6), max_size=3))
def test_the_passages_a_query_ranks_are_those_of_the_model_however_they_are_folded(
    connection: psycopg.Connection,
    drawn: list[Row],
    lineage: Lineage,
    visible: tuple[int, ...] | None,
    folds: list[int],
) -> None:
    """Ours: the rule over arrays is the rule in SQL, in a segment, across segments and behind."""
    context = reading(drawn, lineage, visible)
    with connection.transaction(force_rollback=True), connection.cursor(binary=True) as cursor:
        store(cursor, drawn)
        store_passages(cursor, drawn)
        for branch_id in BRANCHES:
            for rows_at_once in folds:
                fold_once(
                    cursor, Branch(1, SCOPE, branch_id), end=99 << ROW_BITS, limit=rows_at_once
                )
        corpus = read_corpus(cursor, context, ("row", "absent"))
    found = sorted(corpus.rids[corpus.seen].tolist())
    assert found == [rid for rid in expected(drawn, lineage, visible) for _ in range(2)]
    places = [place for held in corpus.lists for place in held.places.tolist()]
    assert sorted(places) == list(range(len(corpus.rids)))
