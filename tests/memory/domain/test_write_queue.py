"""Who is taken next when many writes wait."""

import threading
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampup_site.kernel.clock import Micros
from memory.domain.change import RemoveEpisode, Write
from memory.domain.errors import StorageUnavailable
from memory.domain.ids import CommitId, EpisodeId
from memory.domain.lineage import MAIN
from memory.landing.write_queue import Waiting, WriteQueue

PLENTY = 2**40


def waiting(scope: str, name: str = "c") -> Waiting:
    """Return a write of one row that waits."""
    change = RemoveEpisode(EpisodeId(name), "drop_facts", None, Micros(0))
    return Waiting(Write(CommitId(name), scope, MAIN, "tombstone", "local", change), deadline=0.0)


def taken(queue: WriteQueue, rows: int) -> list[str]:
    """Take a batch and return its commits."""
    return [held.write.commit_id for held in queue.take(rows=rows, size=PLENTY)]


def test_a_long_line_in_one_scope_does_not_hold_up_another() -> None:
    """Documented: architecture, "The write path": round robin over scopes."""
    queue = WriteQueue()
    for n in range(500):
        queue.put(waiting("busy", f"busy{n}"))
    for n in range(2):
        queue.put(waiting("calm", f"calm{n}"))

    assert taken(queue, 4) == ["busy0", "calm0", "busy1", "calm1"]
    assert len(queue) == 498


def test_batches_of_one_serve_the_scopes_in_turn() -> None:
    """Ours: a full batch must not always begin with the same scope."""
    queue = WriteQueue()
    for n in range(3):
        for scope in ("a", "b", "c"):
            queue.put(waiting(scope, f"{scope}{n}"))

    assert [taken(queue, 1)[0] for _ in range(9)] == [
        f"{scope}{n}" for n in range(3) for scope in ("a", "b", "c")
    ]


def test_scopes_that_always_ask_again_do_not_starve_one_that_waits() -> None:
    """Regression: a scope lost its turn whenever the one before it had nothing left."""
    queue = WriteQueue()
    for scope in ("a", "b", "c"):
        queue.put(waiting(scope, scope))
    order = []
    for _ in range(6):
        [served] = taken(queue, 1)
        order.append(served)
        queue.put(waiting(served, served))
    assert order == ["a", "b", "c", "a", "b", "c"]


@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=40),
    st.lists(st.integers(1, 9), min_size=1, max_size=8),
)
def test_everything_is_taken_once_in_its_scopes_order_and_no_scope_starves(
    scopes: list[str], sizes: list[int]
) -> None:
    """Ours: whatever the batches' sizes."""
    queue = WriteQueue()
    for n, scope in enumerate(scopes):
        queue.put(waiting(scope, f"{scope}{n:03}"))
    order: list[str] = []
    while len(queue):
        rows = sizes[len(order) % len(sizes)]
        batch = taken(queue, rows)
        assert 1 <= len(batch) <= rows
        order += batch

    lines = defaultdict(list)
    for commit in order:
        lines[commit[0]].append(commit)
    assert sorted(order) == sorted(f"{scope}{n:03}" for n, scope in enumerate(scopes))
    assert all(line == sorted(line) for line in lines.values())
    # Round robin: the k-th write of a scope comes before the k+1st of any other.
    rank = {commit: k for line in lines.values() for k, commit in enumerate(line)}
    assert [rank[commit] for commit in order] == sorted(rank.values())


def test_a_closed_queue_gives_back_what_waits_and_takes_no_more() -> None:
    """Ours: nobody is left waiting for a committer that has gone."""
    queue = WriteQueue()
    queue.put(waiting("a", "left"))
    assert [held.write.commit_id for held in queue.close()] == ["left"]
    assert len(queue) == 0
    assert not queue.wait()
    with pytest.raises(StorageUnavailable):
        queue.put(waiting("a"))


def test_a_taker_that_waits_is_woken_by_a_write_of_another_thread() -> None:
    """Ours: no polling between two writes."""
    queue = WriteQueue()
    thread = threading.Thread(target=queue.put, args=(waiting("a", "late"),))
    thread.start()
    assert queue.wait(timeout=30)
    thread.join()
    assert taken(queue, 1) == ["late"]


def test_an_answer_to_a_caller_who_went_away_is_no_error() -> None:
    """Ours: the committer outlives every caller."""
    gone = waiting("a")
    assert gone.future.cancel()
    gone.answer(None)  # type: ignore[arg-type]
    assert gone.future.cancelled()
