"""What the process keeps of segments, and what it makes of it with what landed since."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from memory.domain.neighbours import in_thread_order
from memory.engine import Engine
from memory.search import kept_segments
from memory.search.folding import fold_waiting
from memory.search.heads import live_head
from memory.search.kept_segments import Arrays, Folded, joined
from memory.search.segments import with_tail
from memory.services import indexing
from memory.services.episodes import ingest
from memory.services.search import PassageQuery, find_passages
from tests.accounts.builders import an_org
from tests.builders import episode

_ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=12)


def _arrays(rows: list[tuple[int, int]], *, first: int) -> Arrays:
    size = len(rows)
    return Arrays(
        rids=np.arange(first, first + size),
        sets=np.zeros(size, np.int32),
        lengths=np.ones((size, 2), np.uint32),
        occurred=np.array([at for _, at in rows], np.int64),
        threads=np.array([thread for thread, _ in rows], np.int64),
        flags=np.zeros(size, np.uint8),
    )


@given(_ROWS, _ROWS)
def test_the_order_with_a_tail_is_the_order_of_all_in_every_thread(
    held: list[tuple[int, int]], landed: list[tuple[int, int]]
) -> None:
    """Ours: only threads that go on are ordered anew; threads stand in no order."""
    folded, tail = _arrays(held, first=0), _arrays(landed, first=len(held))
    order = in_thread_order(folded.threads, folded.occurred)
    got = with_tail(Folded([0], len(held), folded, order), tail).tolist()
    both = joined([folded, tail])
    assert sorted(got) == list(range(both.size))
    for thread in range(5):
        mine = [place for place in got if both.threads[place] == thread]
        expected = in_thread_order(both.threads, both.occurred).tolist()
        assert mine == [place for place in expected if both.threads[place] == thread]
    boundaries = sum(
        one != other for one, other in zip(both.threads[got], both.threads[got][1:], strict=False)
    )
    assert boundaries == max(0, len(set(both.threads.tolist())) - 1), "no thread is torn"


def _fold(engine: Engine) -> None:
    with engine.index.connect(application="test") as connection, connection.cursor() as cursor:
        fold_waiting(connection, live_head(cursor), at_least=1)


def test_what_is_kept_is_never_older_than_the_index(
    engine: Engine, owner: Caller, org: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: folded, joined and rebuilt segments are others, by name; so is another scope's."""
    other = Scope.org_scope(an_org("other"))
    query = PassageQuery("harbour", k=200)
    for n in range(20):
        drafts = [episode(f"The harbour, part {n}.", source=f"slack:C1:{n}")]
        ingest(engine, owner, org, drafts).wait()
        ingest(engine, owner, other, [episode("A harbour elsewhere.", source=f"note:{n}")]).wait()
        if n % 2:
            _fold(engine)
        if n == 13:
            indexing.rebuild(engine)
        for scope, count in ((org, n + 1), (other, n + 1)):
            hits = find_passages(engine, owner, scope, query)
            assert len(hits) == count
            monkeypatch.setattr(kept_segments, "_kept", type(kept_segments._kept)())
            assert find_passages(engine, owner, scope, query) == hits


def test_what_is_kept_is_bounded(
    engine: Engine, owner: Caller, org: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: what was not read for long goes first, and the last one stays."""
    kept = type(kept_segments._kept)()
    monkeypatch.setattr(kept_segments, "_kept", kept)
    monkeypatch.setattr(kept_segments, "_MOST_BYTES", 1)
    for name in ("ann", "bo", "cy"):
        scope = Scope.org_scope(an_org(name))
        ingest(engine, owner, scope, [episode("The harbour.")]).wait()
        _fold(engine)
        assert len(find_passages(engine, owner, scope, PassageQuery("harbour"))) == 1
        assert len(kept) == 1
