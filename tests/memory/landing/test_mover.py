"""The thread that keeps index and tables quick to read."""

import threading

import pytest

from memory.engine import Engine
from memory.landing import mover
from memory.landing.mover import Mover


def test_the_mover_outlives_a_failure_of_any_kind(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Regression: a file that is no Parquet ended the thread until the server's next start."""
    monkeypatch.setattr(mover, "_IDLE_SECS", 0.001)
    steps = iter((ValueError("no Parquet"), None))
    went_on = threading.Event()

    def step(*_args: object, **_options: object) -> bool:
        failure = next(steps, None)
        if failure is not None:
            raise failure
        went_on.set()
        return False

    monkeypatch.setattr(mover, "step", step)
    thread = Mover(index=engine.index, warehouse=engine.warehouse, clock=engine.clock)
    thread.start()
    assert went_on.wait(10)
    thread.close()
    assert "the mover failed" in caplog.text
