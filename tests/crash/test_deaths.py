"""SIGKILL at every named point: nothing is half there, nothing acknowledged is lost."""

import pytest

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from memory.engine import Engine
from tests.crash.conftest import ROUNDS
from tests.crash.deaths import (
    Compaction,
    Expiry,
    Landing,
    LongLanding,
    Moving,
    Promises,
    Rebuild,
    Run,
    Stores,
)

pytestmark = [pytest.mark.deaths, pytest.mark.timeout(120 + 30 * ROUNDS)]


@pytest.fixture
def stores(engine: Engine, owner: Caller, org: Scope, run_child: Run, promises: Promises) -> Stores:
    """The stores that all the deaths of a test are died on."""
    return Stores(engine, owner, org, run_child, promises)


@pytest.mark.parametrize("point", Landing.points)
def test_a_landing_that_dies_is_whole_or_not_at_all(stores: Stores, point: str) -> None:
    """Documented: concepts, a crash mid-commit leaves nothing visible; invariants 1 to 3."""
    Landing(stores, point).die(ROUNDS)


@pytest.mark.parametrize("point", LongLanding.points)
def test_a_long_body_that_dies_with_its_landing_is_whole_or_not_at_all(
    stores: Stores, point: str
) -> None:
    """Ours: bodies beside the tables obey the same promise."""
    LongLanding(stores, point).die(ROUNDS)


@pytest.mark.parametrize("point", Rebuild.points)
def test_a_rebuild_that_dies_leaves_one_whole_generation(stores: Stores, point: str) -> None:
    """Documented: case 46; the live generation serves until the flip."""
    Rebuild(stores, point).die(ROUNDS)


@pytest.mark.parametrize("point", Compaction.points)
def test_a_compaction_that_dies_loses_and_doubles_no_row(stores: Stores, point: str) -> None:
    """Ours: rewriting files is no change that a reader could tell."""
    Compaction(stores, point).die(ROUNDS)


@pytest.mark.parametrize("point", Expiry.points)
def test_an_expiry_that_dies_removes_nothing_that_is_needed(stores: Stores, point: str) -> None:
    """Ours: only files that no kept version reaches are removed, one by one."""
    Expiry(stores, point).die(ROUNDS)


@pytest.mark.parametrize("point", Moving.points)
def test_a_mover_that_dies_leaves_each_vector_in_one_place(stores: Stores, point: str) -> None:
    """Ours: a vector is in the tail or under HNSW, never in both or neither."""
    Moving(stores, point).die(ROUNDS)
