"""Many processes at once: what is acknowledged exists exactly once, in one chain."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from memory.engine import Engine
from memory.landing.mover import step
from memory.services.episodes import forget, remember
from memory.services.indexing import rebuild
from memory.tables.compaction import compact
from tests.builders import note
from tests.crash.conftest import Child, Running

Start = Callable[..., Running]
Promises = Callable[[list[tuple[str, str]]], int]

PROCESSES, WRITES = 16, 50


def test_sixteen_processes_write_while_the_index_is_rebuilt_moved_and_compacted(
    start_child: Start, promises: Promises, engine: Engine
) -> None:
    """Documented: case 26; acknowledged = stored, the ledger one chain."""
    writers = [start_child("write", WRITES, CHILD=f"w{n}x") for n in range(PROCESSES)]
    rebuilt = 0
    with engine.index.connect(application="test mover") as connection:
        while any(running.process.is_alive() for running in writers):
            rebuild(engine)
            rebuilt += 1
            step(connection, clock=engine.clock)
            for table in ("episodes", "bodies"):
                compact(engine.warehouse, ("org_default", table), min_files=8)
            compact(engine.warehouse, ("memory_system", "ledger"), min_files=8)
    ended = [running.end() for running in writers]

    assert [child.returncode for child in ended] == [0] * PROCESSES, ended
    acked = [pair for child in ended for pair in child.acked()]
    assert rebuilt > 0
    assert len(set(acked)) == PROCESSES * WRITES
    assert promises(acked) == PROCESSES * WRITES
    assert engine.warehouse.ledger_seq() == PROCESSES * WRITES


def test_identical_writes_of_many_processes_are_one_episode_and_one_commit(
    start_child: Start, promises: Promises, engine: Engine
) -> None:
    """Documented: case 22; twenty identical writes at once are one episode."""
    ended = [running.end() for running in [start_child("same", 5) for _ in range(4)]]

    acked = [pair for child in ended for pair in child.acked()]
    created = [line for child in ended for line in child.lines if line.endswith("True")]
    assert len(acked) == 20
    assert len(set(acked)) == 1
    assert len(created) == 1
    assert promises(acked) == 1
    assert engine.warehouse.ledger_seq() == 1


def test_the_first_write_of_a_scope_raced_by_processes_makes_its_tables_once(
    start_child: Start, promises: Promises, engine: Engine
) -> None:
    """Documented: case 26, the first-ever write to a new namespace."""
    ended = [
        running.end() for running in [start_child("write", 1, CHILD=f"f{n}x") for n in range(8)]
    ]

    acked = [pair for child in ended for pair in child.acked()]
    assert promises(acked) == 8
    assert engine.warehouse.namespaces() == ("org_default",)


def test_a_holder_of_the_lock_that_stands_still_blocks_others_until_it_dies(
    start_child: Start, promises: Promises, engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: reliability, gate 3."""
    stopped = start_child("write", 1, failpoint="landing.swapped=stop", CHILD="stopped")
    with engine.index.connect(application="test") as connection:
        waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
        while not _stands_still(stopped):
            connection.execute("SELECT pg_sleep(0.05)")
        held = connection.execute(waits).fetchone()
        assert held is not None
        assert held[0] >= 1
        pending = remember(engine, owner, org, note("Written meanwhile."))
        stopped.process.kill()
        assert pending.wait().created
    assert stopped.end().returncode == -signal.SIGKILL
    assert promises([]) == 1


def _stands_still(running: Running) -> bool:
    stat = Path(f"/proc/{running.process.pid}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] == "T"


def test_a_forget_that_dies_took_effect_or_did_not(
    run_child: Callable[..., Child],
    promises: Promises,
    engine: Engine,
    owner: Caller,
    org: Scope,
) -> None:
    """Ours: removals obey the promise of additions."""
    kept = remember(engine, owner, org, note()).wait()
    dead = run_child("forget", failpoint="landing.copied=kill", EPISODE=kept.episode_id)
    assert dead.returncode == -signal.SIGKILL, dead.errors
    assert promises([(kept.episode_id, kept.commit)]) == 1

    gone = run_child("forget", EPISODE=kept.episode_id)
    assert gone.returncode == 0, gone.errors
    assert promises([]) == 0
    assert forget(engine, owner, org, kept.episode_id).wait().commit == gone.acked()[0][1]


@pytest.mark.torture
@pytest.mark.timeout(1_200)
def test_a_long_race_of_writers_rebuilds_and_deaths_keeps_every_promise(
    start_child: Start, promises: Promises, engine: Engine
) -> None:
    """Documented: reliability, gate 4, with writers that die half way."""
    acked: list[tuple[str, str]] = []
    for wave in range(3):
        writers = [start_child("write", 40, CHILD=f"wave{wave}w{n}x") for n in range(9)]
        rebuild(engine)
        for running in writers[::3]:
            running.process.kill()
        for running in writers:
            acked += running.end().acked()
    assert promises(acked) >= len(set(acked))
