"""SIGKILL at every named point: nothing is half there, nothing acknowledged is lost."""

import signal
from collections.abc import Callable

import pytest

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from memory.engine import Engine
from memory.landing.mover import step
from memory.search.heads import live_head
from memory.search.vectors import PassageVector, add_vectors
from memory.services.episodes import ingest
from memory.services.indexing import rebuild
from memory.services.search import PassageQuery, find_passages
from memory.tables.compaction import compact
from tests.builders import episode
from tests.crash.conftest import ROUNDS, Child

pytestmark = pytest.mark.deaths

LANDING = (
    "landing.encoded",
    "landing.locked",
    "tables.staged",
    "tables.fsynced",
    "landing.staged",
    "landing.swapped",
    "landing.copied",
    "landing.before_commit",
    "landing.committed",
)
REBUILD = ("rebuild.opened", "apply.chunk", "rebuild.filled", "rebuild.indexed", "rebuild.flipped")
COMPACTION = ("compaction.rewritten", "compaction.swapped", "compaction.committed")
EXPIRY = {"expiry.planned": 2, "expiry.deleting": 20}
"""How many times at least one expiry of the two tables reaches each."""
MOVER = ("mover.flushed", "mover.moved")

Run = Callable[..., Child]
Promises = Callable[[list[tuple[str, str]]], int]


def _some_notes(engine: Engine, owner: Caller, org: Scope, count: int) -> None:
    for start in range(0, count, 100):
        drafts = [
            episode(f"note number {n} says so", source=f"note:{n}")
            for n in range(start, min(start + 100, count))
        ]
        ingest(engine, owner, org, drafts).wait()


@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize("point", LANDING)
def test_a_landing_that_dies_is_whole_or_not_at_all(
    run_child: Run, promises: Promises, point: str, round_: int
) -> None:
    """Documented: concepts, a crash mid-commit leaves nothing visible; invariants 1 to 3."""
    dead = run_child("write", 4, failpoint=f"{point}@{2 + round_ % 2}=kill")
    assert dead.returncode == -signal.SIGKILL, dead.errors
    acked = dead.acked()
    live = promises(acked)
    landed = point == "landing.committed"
    assert live == len(acked) + landed

    again = run_child("write", 4)
    assert again.returncode == 0, again.errors
    repeats = [line.split()[3] for line in again.lines if line.startswith("acked")]
    assert repeats == ["False"] * live + ["True"] * (4 - live)
    assert [pair for pair in again.acked() if pair in acked] == acked
    assert promises(again.acked()) == 4


@pytest.mark.parametrize("point", ["landing.copied", "landing.committed", "blob.written"])
def test_a_long_body_that_dies_with_its_landing_is_whole_or_not_at_all(
    run_child: Run, promises: Promises, point: str
) -> None:
    """Ours: bodies beside the tables obey the same promise."""
    nth = 1 if point == "blob.written" else 2
    dead = run_child("write", 2, failpoint=f"{point}@{nth}=kill", CHILD="long")
    assert dead.returncode == -signal.SIGKILL, dead.errors
    promises(dead.acked())
    again = run_child("write", 2, CHILD="long")
    assert promises(again.acked()) == 2


@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize("point", REBUILD)
def test_a_rebuild_that_dies_leaves_one_whole_generation(
    run_child: Run,
    promises: Promises,
    engine: Engine,
    owner: Caller,
    org: Scope,
    point: str,
    round_: int,
) -> None:
    """Documented: case 46; the live generation serves until the flip."""
    _some_notes(engine, owner, org, 300)
    before = find_passages(engine, owner, org, PassageQuery("number 42"))
    dead = run_child("rebuild", failpoint=f"{point}=kill")
    assert dead.returncode == -signal.SIGKILL, dead.errors
    assert promises([]) == 300
    assert find_passages(engine, owner, org, PassageQuery("number 42")) == before

    rebuild(engine)
    assert promises([]) == 300
    assert find_passages(engine, owner, org, PassageQuery("number 42")) == before
    del round_


@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize("point", COMPACTION)
def test_a_compaction_that_dies_loses_and_doubles_no_row(
    run_child: Run,
    promises: Promises,
    engine: Engine,
    owner: Caller,
    org: Scope,
    point: str,
    round_: int,
) -> None:
    """Ours: rewriting files is no change that a reader could tell."""
    for n in range(8):
        ingest(engine, owner, org, [episode(f"note {n}", source=f"note:{n}")]).wait()
    dead = run_child("compact", failpoint=f"{point}=kill")
    assert dead.returncode == -signal.SIGKILL, dead.errors
    assert promises([]) == 8
    compact(engine.warehouse, ("org_default", "episodes"), min_files=2)
    assert promises([]) == 8
    del round_


@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize("point", EXPIRY)
def test_an_expiry_that_dies_removes_nothing_that_is_needed(
    run_child: Run,
    promises: Promises,
    engine: Engine,
    owner: Caller,
    org: Scope,
    point: str,
    round_: int,
) -> None:
    """Ours: only files that no kept version reaches are removed, one by one."""
    for n in range(25):
        ingest(engine, owner, org, [episode(f"note {n}", source=f"note:{n}")]).wait()
    compact(engine.warehouse, ("org_default", "episodes"), min_files=2)
    dead = run_child("expire", failpoint=f"{point}@{1 + round_ % EXPIRY[point]}=kill")
    assert dead.returncode == -signal.SIGKILL, dead.errors
    assert promises([]) == 25
    rebuild(engine)
    assert promises([]) == 25
    assert run_child("expire").returncode == 0
    assert promises([]) == 25


@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize("point", MOVER)
def test_a_mover_that_dies_leaves_each_vector_in_one_place(
    run_child: Run,
    promises: Promises,
    engine: Engine,
    owner: Caller,
    org: Scope,
    point: str,
    round_: int,
) -> None:
    """Ours: a vector is in the tail or under HNSW, never in both or neither."""
    _some_notes(engine, owner, org, 600)
    with engine.index.connect(application="test") as connection:
        with connection.cursor() as cursor:
            generation = live_head(cursor).generation
            places = cursor.execute(
                "SELECT scope_id, rid FROM ampup_index.passages WHERE generation = %s LIMIT 300",
                (generation,),
            ).fetchall()
            vectors = [
                PassageVector(rid=rid, n=1, embedder="drawn", part=0, values=(0.1, n / 300, 1.0))
                for n, (_, rid) in enumerate(places)
            ]
            add_vectors(cursor, generation=generation, scope_id=places[0][0], vectors=vectors)
        dead = run_child("move", 3, failpoint=f"{point}=kill")
        assert dead.returncode == -signal.SIGKILL, dead.errors
        assert promises([]) == 600
        while step(connection, clock=engine.clock):
            pass
        moved = connection.execute("SELECT count(*) FROM ampup_index.vectors").fetchone()
    assert moved == (300,)
    assert promises([]) == 600
    del round_
