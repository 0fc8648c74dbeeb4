"""A server driven at random over its surfaces, held against a small plain model."""

import logging
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from memory import wiring
from memory.engine import Engine
from memory.services import ledger
from tests.machine.story import CELLS, Story, World
from tests.mcp_gateway.wire import an_app

EXAMPLES = int(os.environ.get("MACHINE_EXAMPLES", "14"))
"""How many stories are played: few in `make test`, many in `make torture`."""

STEPS = 40


@pytest.fixture
def world(
    engine: Engine, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> Iterator[World]:
    """Shared parts; at the end its steps are printed, and none may be missing."""
    caplog.set_level(logging.ERROR, logger="django.request")
    world = World(app=an_app())
    yield world
    with capsys.disabled():
        print("\nsteps", *(f"{at}/{by}:{world.steps[(at, by)]}" for at, by in CELLS))  # noqa: T201
    assert all(world.steps[cell] for cell in CELLS), world.steps


def _play(world: World, stories: int, *, derandomize: bool) -> None:
    machine = type("Played", (Story,), {"world": world})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=stories,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=derandomize,
            database=None,
            phases=(Phase.generate,),  # a step costs too much for stories to be shortened
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert ledger.verify(wiring.engine()).faults == ()


def test_every_answer_is_what_the_plain_model_says(world: World) -> None:
    """Documented: architecture, invariants 1 to 8, over every surface and caller."""
    _play(world, EXAMPLES, derandomize="MACHINE_EXAMPLES" not in os.environ)


@pytest.mark.torture
@pytest.mark.timeout(3_600)
def test_every_answer_of_long_and_many_stories_is_what_the_plain_model_says(world: World) -> None:
    """Documented: the same, with stories nobody has played before."""
    _play(world, 10 * int(os.environ.get("TORTURE", "20")), derandomize=False)
