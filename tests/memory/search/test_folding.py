"""Passages are folded into segments, and segments into larger ones, and nobody can tell."""

from itertools import pairwise
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from memory.domain import segment_sizes
from memory.domain.segment_sizes import run_to_join
from memory.engine import Engine
from memory.search import folding
from memory.search.folding import fold_waiting, waiting_passages
from memory.search.heads import live_head
from memory.services import indexing
from memory.services.episodes import amend_acl, forget, ingest
from memory.services.search import PassageHit, PassageQuery, find_passages
from tests.builders import NOON, episode, reader


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folds of three passages, and sizes that make joins of joins."""
    monkeypatch.setattr(folding, "_FOLDED_AT_ONCE", 3)
    monkeypatch.setattr(segment_sizes, "_JOINED", 2)
    monkeypatch.setattr(segment_sizes, "_SIZES", (5, 20))
    monkeypatch.setattr(segment_sizes, "_LARGEST", 40)


def _fold(engine: Engine) -> int:
    with engine.index.connect(application="test") as connection:
        with connection.cursor() as cursor:
            head = live_head(cursor)
        return fold_waiting(connection, head, at_least=1)


def _sizes(engine: Engine) -> list[int]:
    with engine.index.connect(application="test") as connection:
        rows = connection.execute(
            "SELECT passages FROM ampup_index.segments ORDER BY scope_id, segment"
        ).fetchall()
    return [row[0] for row in rows]


def _answers(engine: Engine, org: Scope, *callers: Caller) -> list[tuple[PassageHit, ...]]:
    return [
        find_passages(engine, caller, org, PassageQuery("harbour crane rope", k=50, order=order))
        for caller in callers
        for order in ("relevance", "newest", "oldest")
    ]


def test_folding_and_joining_change_no_answer_of_anybody(
    engine: Engine, owner: Caller, org: Scope, tiny: None
) -> None:
    """Documented: invariant 6; rights, removals and text are the same in the tail and folded."""
    del tiny
    bob = reader("bob", "sales")
    before: list[tuple[PassageHit, ...]] = []
    for turn in range(6):
        kept = ingest(
            engine,
            owner,
            org,
            [
                episode(
                    f"The harbour {'crane ' * (n + 1)} {'rope' if turn % 2 else 'mast'} {turn}.",
                    source=f"note:{turn}/{n}",
                    occurred_at=NOON + 1_000 * n - turn,
                    acl=("group:sales",) if n % 2 else ("*",) if turn % 3 else ("user:priya",),
                )
                for n in range(5)
            ],
        ).wait()
        forget(engine, owner, org, kept.episodes[turn % 5].episode_id).wait()
        amended = kept.episodes[(turn + 2) % 5]
        expected = ["group:sales"] if (turn + 2) % 5 % 2 else ["*"] if turn % 3 else ["user:priya"]
        amend_acl(
            engine, owner, org, amended.episode_id, acl=["user:bob"], expected=expected
        ).wait()
        before = _answers(engine, org, owner, bob)
        assert len(before[0]) == 4 * (turn + 1) > len(before[3]) > 0
        assert _fold(engine) == 5
        assert _answers(engine, org, owner, bob) == before
        assert indexing.verify(engine).clean
    sizes = _sizes(engine)
    assert sum(sizes) == 30
    assert max(sizes) > 5, "nothing was joined"

    indexing.rebuild(engine)
    assert _answers(engine, org, owner, bob) == before


def test_what_waits_is_counted_and_folded_once(engine: Engine, owner: Caller, org: Scope) -> None:
    """Ours: `index status` tells how much a query still reads one by one."""
    ingest(engine, owner, org, [episode(f"Line {n}.", source=f"note:{n}") for n in range(4)]).wait()
    with engine.index.connect(application="test") as connection, connection.cursor() as cursor:
        assert waiting_passages(cursor, live_head(cursor)) == 4
        assert fold_waiting(connection, live_head(cursor), at_least=5) == 0
        assert waiting_passages(cursor, live_head(cursor)) == 4
        assert fold_waiting(connection, live_head(cursor), at_least=4) == 4
        assert waiting_passages(cursor, live_head(cursor)) == 0
        assert fold_waiting(connection, live_head(cursor), at_least=1) == 0


def test_who_comes_while_another_folds_leaves_it_to_the_other(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Ours: two servers on one database never fold the same passages twice."""
    ingest(engine, owner, org, [episode()]).wait()
    with engine.index.connect(application="other") as other, other.transaction():
        other.execute("SELECT pg_advisory_xact_lock(hashtext('ampup_index.fold'), 1)")
        assert _fold(engine) == 0
    assert _fold(engine) == 1


def test_a_reader_of_one_moment_sees_each_passage_once_while_it_is_folded(
    engine: Engine, owner: Caller, org: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a fold between two statements of a read neither doubles nor hides a passage."""
    ingest(engine, owner, org, [episode("A lone heron.")]).wait()
    execute = psycopg.Cursor.execute
    folded: list[int] = []

    def folding_between(self: psycopg.Cursor, query: Any, *args: Any, **more: Any) -> Any:
        answer = execute(self, query, *args, **more)
        if "segments" in str(query) and not folded:
            folded.append(0)
            folded[0] = _fold(engine)
        return answer

    monkeypatch.setattr(psycopg.Cursor, "execute", folding_between)
    assert len(find_passages(engine, owner, org, PassageQuery("heron"))) == 1
    assert folded == [1]


@given(st.lists(st.integers(1, 150_000), max_size=30))
def test_joins_come_to_an_end_and_keep_the_order(passages: list[int]) -> None:
    """Ours: each join is of neighbours, makes fewer segments, and none too large."""
    while (due := run_to_join(passages)) is not None:
        joined = sum(passages[due])
        assert due.stop - due.start > 1
        assert joined <= 131_072
        passages = [*passages[: due.start], joined, *passages[due.stop :]]
    small = [count < 8_000 for count in passages]
    runs = [place for place, (one, other) in enumerate(pairwise(small)) if one != other]
    assert all(not all(small[at : at + 8]) for at in range(len(small) - 7)), runs
