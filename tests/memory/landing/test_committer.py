"""The committer with real stores: gathered, repeated, poisoned, interrupted and held up."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from statistics import mean
from typing import Any

import psycopg
import pytest

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from ampup_site.kernel.errors import AmpUpError
from memory.domain.change import PreparedEpisode
from memory.domain.episode_views import Remembered
from memory.domain.errors import LedgerBusy
from memory.domain.pending import Pending
from memory.engine import Engine
from memory.landing import transaction
from memory.landing.committer import Committer
from memory.search.database import IndexDatabase
from memory.search.episodes import EpisodeFilters
from memory.services import episodes, indexing, ledger, preparing
from memory.services.episodes import (
    forget,
    get_episode,
    ingest,
    list_episodes,
    remember,
)
from memory.services.search import PassageQuery, find_passages
from memory.tables.warehouse import Warehouse
from tests.builders import episode, note, reader

Act = Callable[[], object]


def count(engine: Engine, owner: Caller, org: Scope) -> int:
    """Return how many episodes can be read."""
    return len(list_episodes(engine, owner, org, EpisodeFilters(), k=200).episodes)


def sound(engine: Engine) -> bool:
    """Say whether ledger and index hold what the tables say."""
    return ledger.verify(engine).faults == () and indexing.verify(engine).clean


@pytest.fixture
def at_point(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Act], None]:
    """Do something the first time a landing reaches a point."""

    def arrange(point: str, act: Act) -> None:
        waiting = [act]

        def reach(name: str) -> None:
            if name == point and waiting:
                waiting.pop()()

        monkeypatch.setattr(transaction, "reach", reach)

    return arrange


def raising(error: Exception) -> Act:
    """Return an act that raises."""

    def act() -> None:
        raise error

    return act


def test_twenty_identical_writes_at_once_are_one_episode_and_one_ledger_row(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: specification, section 21; who was first is told created, the rest not."""
    together = threading.Barrier(20)
    kept: list[Remembered] = []

    def write() -> None:
        together.wait()
        kept.append(remember(engine, owner, org, note()).wait())

    threads = [threading.Thread(target=write) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answer.created for answer in kept) == [False] * 19 + [True]
    assert len({(answer.episode_id, answer.commit) for answer in kept}) == 1
    assert engine.warehouse.ledger_seq() == 1
    assert count(engine, owner, org) == 1


def test_eighty_similar_writes_are_eighty_and_land_gathered(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: specification, section 21; architecture, "The write path"."""
    waiting = [remember(engine, owner, org, note(f"Renewal number {n}.")) for n in range(80)]
    kept = [pending.wait() for pending in waiting]

    assert all(answer.created for answer in kept)
    assert len({answer.episode_id for answer in kept}) == 80
    assert len({answer.commit for answer in kept}) == 80
    assert engine.warehouse.ledger_seq() == 80
    figures = engine.committer.figures().writes
    assert sum(figures) == 80
    assert mean(figures) > 4, figures
    assert sound(engine)


def _text(made: PreparedEpisode, text: str) -> PreparedEpisode:
    return replace(made, passages=tuple(replace(one, text=text) for one in made.passages))


@pytest.mark.parametrize(
    ("poison", "code"),
    [
        (lambda made: _text(made, "a\x00b"), "validation"),
        (lambda made: replace(made, document="a\x00b"), "validation"),
        (lambda made: replace(made, occurred_at=2**70), "landing_failed"),
    ],
    ids=["NUL in a passage", "NUL", "bad date"],
)
def test_a_poisoned_member_of_a_batch_is_refused_alone(
    engine: Engine,
    owner: Caller,
    org: Scope,
    monkeypatch: pytest.MonkeyPatch,
    poison: Callable[[PreparedEpisode], PreparedEpisode],
    code: str,
) -> None:
    """Documented: architecture, "The write path": the bad write is found by halving."""
    prepare = preparing.prepare_note

    def poisoned(*args: Any) -> PreparedEpisode:
        made = prepare(*args)
        return poison(made) if "poison" in made.body else made

    monkeypatch.setattr(episodes, "prepare_note", poisoned)
    texts = [f"note {n}" for n in range(6)]
    texts.insert(3, "poison")
    waiting = {text: remember(engine, owner, org, note(text)) for text in texts}

    with pytest.raises(AmpUpError) as refused:
        waiting.pop("poison").wait()
    assert refused.value.code == code
    kept = [pending.wait() for pending in waiting.values()]
    assert all(answer.created for answer in kept)
    assert engine.warehouse.ledger_seq() == 6
    assert sound(engine)


def test_a_commit_whose_answer_is_lost_is_looked_up_and_not_written_twice(
    engine: Engine, owner: Caller, org: Scope, at_point: Callable[[str, Act], None]
) -> None:
    """Documented: architecture, invariant 3: landed, and told so, though nobody heard COMMIT."""
    before = remember(engine, owner, org, note("There already.")).wait()
    at_point("landing.committed", raising(psycopg.OperationalError("the answer is lost")))
    waiting = [
        remember(engine, owner, org, note(text)) for text in ("One.", "There already.", "Two.")
    ]
    kept = [pending.wait() for pending in waiting]

    assert [answer.created for answer in kept] == [True, False, True]
    assert kept[1].commit == before.commit
    assert engine.warehouse.ledger_seq() == 3
    assert remember(engine, owner, org, note("One.")).wait().commit == kept[0].commit
    assert sound(engine)


def test_a_lost_answer_tells_what_the_landing_did_and_not_what_was_planned_first(
    engine: Engine, owner: Caller, org: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: of a batch that another server had landed in part, all was told created."""
    warehouse = Warehouse(root=engine.warehouse.root, dsn=engine.index.dsn)
    committer = Committer(
        warehouse=warehouse, index=engine.index, clock=engine.clock, ids=engine.ids
    )
    other = replace(engine, warehouse=warehouse, committer=committer)
    drafts = [episode(body, source=f"note:{body}") for body in ("One.", "Two.")]
    acts = {
        "landing.encoded": lambda: ingest(other, owner, org, drafts[:1]).wait(),
        "landing.committed": raising(psycopg.OperationalError("the answer is lost")),
    }

    def reach(name: str) -> None:
        if threading.current_thread() is first and name in acts:
            acts.pop(name)()

    remember(engine, owner, org, note("The thread is there.")).wait()
    [first] = [one for one in threading.enumerate() if one.name == "committer"]
    monkeypatch.setattr(transaction, "reach", reach)
    try:
        done = ingest(engine, owner, org, drafts).wait()
    finally:
        committer.close()
        warehouse.close()
    assert not acts
    assert [one.created for one in done.episodes] == [False, True]
    assert sound(engine)


def test_a_lost_answer_is_asked_for_until_the_database_is_back(
    engine: Engine,
    owner: Caller,
    org: Scope,
    at_point: Callable[[str, Act], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: planned again as if it were new, it would undo what others did after it."""
    kept = remember(engine, owner, org, note()).wait()
    connect, away = IndexDatabase.connect, [1, 2]

    def lose() -> None:
        monkeypatch.setattr(IndexDatabase, "connect", connecting)
        message = "the answer is lost"
        raise psycopg.OperationalError(message)

    def connecting(self: IndexDatabase, **options: Any) -> psycopg.Connection:
        if away and options["application"] == "committer":
            away.pop()
            message = "starting up"
            raise psycopg.errors.CannotConnectNow(message)
        return connect(self, **options)

    at_point("landing.committed", lose)
    gone = forget(engine, owner, org, kept.episode_id)
    assert gone.wait().commit != kept.commit
    assert not away
    assert engine.warehouse.ledger_seq() == 2
    assert count(engine, owner, org) == 0
    assert sound(engine)


def _end_the_committers_backend(engine: Engine) -> None:
    with engine.index.connect(application="test") as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE application_name = 'ampup committer' AND datname = current_database()"
        )


@pytest.mark.parametrize(
    "point", ["landing.encoded", "landing.locked", "landing.copied", "landing.before_commit"]
)
def test_a_landing_whose_backend_is_ended_is_tried_again_and_nothing_is_doubled(
    engine: Engine,
    owner: Caller,
    org: Scope,
    at_point: Callable[[str, Act], None],
    point: str,
) -> None:
    """Documented: architecture, section 4: no answer is looked up, then tried again."""
    first = remember(engine, owner, org, note("Before.")).wait()
    at_point(point, lambda: _end_the_committers_backend(engine))
    waiting = [remember(engine, owner, org, note(f"Note {n}.")) for n in range(3)]
    assert [pending.wait().created for pending in waiting] == [True] * 3
    assert engine.warehouse.ledger_seq() == 4
    assert remember(engine, owner, org, note("Before.")).wait().commit == first.commit
    assert sound(engine)


@pytest.mark.parametrize(
    "error",
    [
        psycopg.errors.DeadlockDetected,
        psycopg.errors.LockNotAvailable,
        psycopg.errors.QueryCanceled,
        psycopg.errors.IdleInTransactionSessionTimeout,
        psycopg.InterfaceError,
    ],
)
def test_what_fails_for_a_reason_of_the_machinery_is_tried_again(
    engine: Engine,
    owner: Caller,
    org: Scope,
    at_point: Callable[[str, Act], None],
    error: type[psycopg.Error],
) -> None:
    """Ours: only what the rows themselves cause is a refusal."""
    at_point("landing.staged", raising(error("as the server says it")))
    assert remember(engine, owner, org, note()).wait().created
    assert engine.warehouse.ledger_seq() == 1
    assert sound(engine)


@pytest.mark.parametrize("error", [psycopg.errors.DiskFull, psycopg.errors.ReadOnlySqlTransaction])
def test_a_database_that_cannot_be_written_is_told_and_the_next_write_lands(
    engine: Engine,
    owner: Caller,
    org: Scope,
    at_point: Callable[[str, Act], None],
    error: type[psycopg.Error],
) -> None:
    """Documented: "What must survive": a clear error; service resumes by itself."""
    at_point("landing.copied", raising(error("no room")))
    with pytest.raises(AmpUpError) as refused:
        remember(engine, owner, org, note()).wait()
    assert refused.value.code == "storage_unavailable"
    assert remember(engine, owner, org, note()).wait().created
    assert sound(engine)


@pytest.fixture
def held_lock(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[psycopg.Connection]:
    """Somebody else's landing that does not end; ours wait for it for 0.2 s at a time."""
    monkeypatch.setattr(transaction, "LOCK_TIMEOUT_MS", 200)
    with engine.index.connect(application="holder") as holder:
        holder.execute("SELECT pg_advisory_lock(%s)", (engine.warehouse.lock_key,))
        yield holder


def test_a_lock_held_past_the_deadline_is_told_busy_and_service_resumes(
    engine: Engine,
    owner: Caller,
    org: Scope,
    held_lock: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Documented: architecture, section 4: 503 ledger_busy, outcome unknown, send it again."""
    monkeypatch.setattr("memory.landing.committer.DEADLINE_SECS", 0.5)
    pending: Pending[Remembered] = remember(engine, owner, org, note())
    with pytest.raises(LedgerBusy) as busy:
        pending.wait(timeout=0.5)
    assert busy.value.detail == {"outcome": "unknown"}
    assert engine.committer.healthy()

    monkeypatch.setattr("memory.landing.committer.DEADLINE_SECS", 30.0)
    again = remember(engine, owner, org, note())
    held_lock.close()
    again.wait()
    assert engine.warehouse.ledger_seq() == 1
    assert count(engine, owner, org) == 1
    assert sound(engine)


def test_a_write_past_its_deadline_lands_no_more(
    engine: Engine,
    owner: Caller,
    org: Scope,
    held_lock: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: who was told "unknown" may give up; an old write must not surface much later."""
    monkeypatch.setattr("memory.landing.committer.DEADLINE_SECS", 0.4)
    with pytest.raises(LedgerBusy):
        remember(engine, owner, org, note("Late.")).wait(timeout=0.4)
    monkeypatch.setattr("memory.landing.committer.DEADLINE_SECS", 30.0)
    other = remember(engine, owner, org, note("In time."))
    # The committer drops the late one before it takes the other, which then waits for the lock.
    held_lock.close()
    kept = other.wait()
    assert get_episode(engine, owner, org, kept.episode_id).body == "In time."
    assert count(engine, owner, org) == 1


def test_an_ingest_that_repeats_a_part_lands_the_rest_once_after_a_lost_answer(
    engine: Engine, owner: Caller, org: Scope, at_point: Callable[[str, Act], None]
) -> None:
    """Ours: a batch's members are recognised one by one, whatever became of the COMMIT."""
    ingest(engine, owner, org, [episode("one")]).wait()
    at_point("landing.committed", raising(psycopg.OperationalError("the answer is lost")))
    kept = ingest(engine, owner, org, [episode("one"), episode("two")]).wait()
    assert [held.created for held in kept.episodes] == [False, True]
    assert engine.warehouse.ledger_seq() == 2
    assert sound(engine)


def test_a_writer_takes_no_acl_number_over_from_a_database_it_was_cut_off_from(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Regression: a standby may lack the last landing and give its number to another ACL.

    What the writer knew would then show the next episode to the other ACL's readers.
    """
    mine, theirs = ("group:mine",), ("group:theirs",)
    remember(engine, owner, org, note("The first secret.", acl=mine)).wait()
    with engine.index.connect(application="test") as connection:
        connection.execute(
            "UPDATE ampup_index.acl_sets SET key = %s, entries = %s WHERE entries = %s",
            (hashlib.sha256(theirs[0].encode()).digest(), list(theirs), list(mine)),
        )
        connection.execute(
            "UPDATE ampup_index.acl_bitmaps SET entry = %s WHERE entry = %s", (*theirs, *mine)
        )
    _end_the_committers_backend(engine)
    remember(engine, owner, org, note("The second secret.", acl=mine)).wait()
    query = PassageQuery("second")
    assert find_passages(engine, reader("eve", "theirs"), org, query) == ()
    [hit] = find_passages(engine, reader("ann", "mine"), org, query)
    assert hit.text == "The second secret."
