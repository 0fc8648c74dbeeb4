"""Whatever is dropped, and whatever goes on meanwhile, a rebuild answers as before."""

import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest
from django.db import connection as django_connection

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from memory import wiring
from memory.domain.errors import IndexBehind
from memory.engine import Engine
from memory.landing.apply import catch_up
from memory.landing.mover import step
from memory.landing.rebuild import rebuild_if_stale
from memory.search import ddl
from memory.search.episodes import EpisodeFilters
from memory.search.generations import ensure_index
from memory.search.vectors import PassageVector, add_vectors, copy_vectors
from memory.services import indexing, ledger
from memory.services.episodes import (
    amend_acl,
    forget,
    get_episode,
    ingest,
    list_episodes,
    remember,
)
from memory.services.search import PassageQuery, find_passages
from tests.builders import episode, note, reader

PEOPLE = (reader("bob"), reader("priya", "sales"), reader("eve", "ops"))
QUESTIONS = ("renewal", "number 3", "who owns the launch", "nothing of the kind")


def fill(engine: Engine, owner: Caller, org: Scope) -> None:
    """Write a little of everything, over a few commits."""
    acls = (("*",), ("group:sales",), ("group:ops", "user:bob"))
    drafts = []
    for start in (0, 12):
        drafts = [
            episode(f"Renewal number {n}.", source=f"note:{n}", acl=acls[n % 3], occurred_at=n)
            for n in range(start, start + 12)
        ]
        kept = ingest(engine, owner, org, drafts).wait()
        ids = [held.episode_id for held in kept.episodes]
        forget(engine, owner, org, ids[1]).wait()
        amend_acl(engine, owner, org, ids[0], acl=["group:ops"], expected=["*"]).wait()
        amend_acl(engine, owner, org, ids[3], acl=["user:bob"], expected=["*"]).wait()
        amend_acl(engine, owner, org, ids[3], acl=["group:sales"], expected=["user:bob"]).wait()
    remember(engine, owner, org, note("The launch.\n\n" + "Who owns it? " * 300)).wait()
    ingest(engine, owner, org, [drafts[1]]).wait()


def answers(engine: Engine, owner: Caller, org: Scope) -> list[object]:
    """Return what everybody is answered to everything, whole."""
    said: list[object] = []
    for caller in (owner, *PEOPLE):
        page = list_episodes(engine, caller, org, EpisodeFilters(), k=200)
        said += [page]
        said += [get_episode(engine, caller, org, held.episode_id) for held in page.episodes]
        said += [find_passages(engine, caller, org, PassageQuery(text, k=50)) for text in QUESTIONS]
    said += [ledger.log(engine, owner, org)]
    return said


def _lost(engine: Engine, *statements: str) -> None:
    wiring.close_engine()
    with engine.index.connect(application="test") as connection:
        for statement in statements:
            connection.execute(statement)


def test_an_index_that_was_dropped_is_built_from_the_tables_and_answers_as_before(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: "What must survive": every index table dropped, rebuilt from Iceberg alone."""
    fill(engine, owner, org)
    before = answers(engine, owner, org)
    _lost(engine, f"DROP SCHEMA {ddl.SCHEMA} CASCADE")

    fresh = wiring.engine()
    assert answers(fresh, owner, org) == before, "the start brings it up"
    indexing.rebuild(fresh)
    assert answers(fresh, owner, org) == before
    assert indexing.verify(fresh).clean
    assert remember(fresh, owner, org, note("After all.")).wait().created
    assert indexing.verify(fresh).clean


def test_any_one_table_that_was_dropped_is_healed_by_a_rebuild(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Ours: half an index is no reason to need a human."""
    kept = remember(engine, owner, org, note("The launch.")).wait()
    amend_acl(engine, owner, org, kept.episode_id, acl=["group:ops"], expected=["*"]).wait()
    before = answers(engine, owner, org)
    for table in (*ddl.PARTITIONED, "scopes", "ledger_head"):
        _lost(engine, f"DROP TABLE {ddl.SCHEMA}.{table} CASCADE")
        engine = wiring.engine()
        indexing.rebuild(engine)
        assert answers(engine, owner, org) == before, table
        assert indexing.verify(engine).clean, table
    assert remember(engine, owner, org, note("After all.")).wait().created
    assert indexing.verify(engine).clean


def test_rows_that_were_emptied_are_healed_by_a_rebuild(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Ours: a rebuild reads nothing of the index it replaces but vectors."""
    fill(engine, owner, org)
    before = answers(engine, owner, org)
    tables = ", ".join(f"{ddl.SCHEMA}.{table}" for table in ddl.PARTITIONED)
    _lost(engine, f"TRUNCATE {tables}")
    fresh = wiring.engine()
    indexing.rebuild(fresh)
    assert answers(fresh, owner, org) == before
    assert indexing.verify(fresh).clean


def test_a_writer_that_outlives_the_index_numbers_acls_as_the_new_one_does(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Regression: a number kept from an index that was dropped stood for another ACL's readers."""
    first = remember(engine, owner, org, note("Amended later.")).wait()
    remember(engine, owner, org, note("For sales.", acl=("group:sales",))).wait()
    indexing.rebuild(engine)
    remember(engine, owner, org, note("For sales too.", acl=("group:sales",))).wait()
    amend_acl(engine, owner, org, first.episode_id, acl=["group:sales"], expected=["*"]).wait()
    remember(engine, owner, org, note("For everyone.")).wait()

    # Another process drops the index and builds it anew; this one goes on.
    with engine.index.connect(application="test") as connection:
        connection.execute(f"DROP SCHEMA {ddl.SCHEMA} CASCADE")
        ensure_index(connection, empty=True)
        catch_up(connection, engine.warehouse, engine.types)
    indexing.rebuild(engine)
    remember(engine, owner, org, note("A secret of sales.", acl=("group:sales",))).wait()

    assert find_passages(engine, PEOPLE[0], org, PassageQuery("secret")) == ()
    assert len(find_passages(engine, PEOPLE[1], org, PassageQuery("secret"))) == 1
    assert indexing.verify(engine).clean


def test_an_index_of_another_analyzer_is_built_anew_by_itself(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: a changed analyzer is a new fingerprint and a rebuild beside."""
    fill(engine, owner, org)
    before = answers(engine, owner, org)
    assert not _rebuilt_if_stale(engine)
    with engine.index.connect(application="test") as connection:
        connection.execute(f"UPDATE {ddl.SCHEMA}.ledger_head SET analyzer = 'words-0'")
    counts = indexing.status(engine, owner, org).counts
    assert counts is not None
    assert not counts.analyzer_current
    assert _rebuilt_if_stale(engine)
    assert indexing.status(engine, owner, org).generation == 2
    assert not _rebuilt_if_stale(engine)
    assert answers(engine, owner, org) == before
    assert indexing.verify(engine).clean


def test_tables_of_another_layout_are_made_anew_and_filled(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Ours: the index of an older version is no obstacle to a newer one."""
    fill(engine, owner, org)
    before = answers(engine, owner, org)
    wiring.close_engine()
    with engine.index.connect(application="test") as connection:
        connection.execute(f"COMMENT ON SCHEMA {ddl.SCHEMA} IS 'layout 0'")
        connection.execute(f"ALTER TABLE {ddl.SCHEMA}.passages DROP COLUMN thread")
        assert not ensure_index(connection, empty=False)
    with pytest.raises(IndexBehind):
        find_passages(engine, owner, org, PassageQuery("anything"))
    fresh = wiring.engine()
    assert answers(fresh, owner, org) == before
    assert indexing.verify(fresh).clean


def _rebuilt_if_stale(engine: Engine) -> bool:
    return rebuild_if_stale(
        index=engine.index, warehouse=engine.warehouse, types=engine.types, clock=engine.clock
    )


def _until(done: threading.Event, act: Callable[[int], None]) -> list[BaseException]:
    """Act again and again in the background's turn; return what went wrong."""
    failures: list[BaseException] = []
    try:
        for n in count():
            if done.is_set():
                break
            act(n)
    except BaseException as failure:  # noqa: BLE001 -- told to the test's own thread
        failures.append(failure)
    finally:
        django_connection.close()
    return failures


def test_writes_forgets_and_amendments_during_rebuilds_all_hold(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: architecture, section 6: writes go on and are caught up before the flip."""
    fill(engine, owner, org)
    done = threading.Event()
    failures: list[list[BaseException]] = []
    live: list[str] = []

    def act(n: int) -> None:
        kept = remember(engine, owner, org, note(f"During a rebuild {n}.")).wait()
        live.append(kept.episode_id)
        if n % 3 == 1:
            amend_acl(engine, owner, org, live[-1], acl=["group:ops"], expected=["*"]).wait()
        if n % 3 == 2:
            forget(engine, owner, org, live.pop()).wait()

    thread = threading.Thread(target=lambda: failures.append(_until(done, act)))
    thread.start()
    for _ in range(2):
        indexing.rebuild(engine)
    done.set()
    thread.join()

    assert failures == [[]]
    assert indexing.verify(engine).clean
    assert ledger.verify(engine).faults == ()
    shown = list_episodes(
        engine, owner, org, replace(EpisodeFilters(), source_prefix="mcp:remember_memory:"), k=200
    )
    assert set(live) <= {held.episode_id for held in shown.episodes}
    before = answers(engine, owner, org)
    indexing.rebuild(engine)
    assert answers(engine, owner, org) == before


def test_vectors_that_the_mover_was_quicker_with_are_not_taken_over_twice(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Regression: one in the tail and under HNSW at once ended every step of the mover."""
    ingest(engine, owner, org, [episode()]).wait()
    with engine.index.connect(application="test") as connection, connection.cursor() as cursor:
        [(scope_id, rid)] = cursor.execute("SELECT scope_id, rid FROM passages_g1").fetchall()
        vector = PassageVector(rid=rid, n=1, embedder="drawn", part=0, values=(0.1, 0.2, 0.3))
        add_vectors(cursor, generation=1, scope_id=scope_id, vectors=[vector])
        indexing.rebuild(engine)
        step(connection, clock=engine.clock)
        assert copy_vectors(cursor, from_generation=1, to_generation=2) == 0

        cursor.execute("INSERT INTO vectors_tail SELECT * FROM vectors WHERE generation = 2")
        step(connection, clock=engine.clock)
        places = "SELECT (SELECT count(*) FROM vectors_tail_g2), (SELECT count(*) FROM vectors_g2)"
        assert cursor.execute(places).fetchone() == (0, 1)
    assert indexing.verify(engine).clean
