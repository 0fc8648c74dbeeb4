"""Children that die on cue, and the promises that must hold after any death."""

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import settings

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from memory.engine import Engine
from memory.search.episodes import EpisodeFilters
from memory.services.episodes import get_episode, list_episodes
from memory.services.indexing import verify as verify_index
from memory.services.ledger import verify as verify_ledger
from tests.crash.child import main

ROUNDS = int(os.environ.get("TORTURE", "2"))
"""How often each death is died: twice in `make test`, twenty times in `make torture`."""


@dataclass(frozen=True)
class Child:
    """What a child said before it ended, and how it ended."""

    returncode: int
    lines: tuple[str, ...]
    errors: str

    def acked(self) -> list[tuple[str, str]]:
        """Return the episode and commit of each acknowledged write."""
        return [
            (line.split()[1], line.split()[2]) for line in self.lines if line.startswith("acked")
        ]


_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(
    [
        "django",
        "psycopg",
        "pyarrow.parquet",
        "pyiceberg.manifest",
        "pyiceberg.io.pyarrow",
        "memory.landing.rebuild",
        "memory.landing.committer",
        "tests.crash.child",
    ]
)


class Running:
    """A child that has been started on this test's stores.

    It is forked from a process that has imported everything and read no setting, so that dying
    two hundred times costs seconds and not minutes.
    """

    def __init__(self, action: str, times: int, *, failpoint: str, **variables: str) -> None:
        environment = {
            "DJANGO_SETTINGS_MODULE": "ampup_site.settings.base",
            "AMPUP_MEMORY_DATABASE_URL": settings.AMPUP_DATABASE_DSN,
            "AMPUP_MEMORY_WAREHOUSE": str(settings.AMPUP_WAREHOUSE),
            "AMPUP_MEMORY_FAILPOINT": failpoint,
            **variables,
        }
        folder = Path(settings.AMPUP_WAREHOUSE).parent
        self._out = Path(tempfile.mkdtemp(prefix="child", dir=folder)) / "lines"
        self._out.touch()
        self.process = _forks.Process(target=main, args=(action, times, environment, self._out))
        self.process.start()

    def lines(self) -> tuple[str, ...]:
        """Return what it has said so far."""
        return tuple(self._out.read_text().splitlines())

    def end(self) -> Child:
        """Wait for its end."""
        self.process.join(120)
        code = self.process.exitcode
        assert code is not None, "the child did not end"
        errors = self._out.with_suffix(".err")
        return Child(code, self.lines(), errors.read_text() if errors.exists() else "")


@pytest.fixture
def start_child(engine: Engine) -> Iterator[Callable[..., Running]]:
    """Start children; the ones that still run are killed at the end."""
    del engine
    started: list[Running] = []

    def start(action: str, times: int = 1, *, failpoint: str = "", **variables: str) -> Running:
        started.append(Running(action, times, failpoint=failpoint, **variables))
        return started[-1]

    yield start
    for running in started:
        running.process.kill()
        running.process.join()


@pytest.fixture
def run_child(start_child: Callable[..., Running]) -> Callable[..., Child]:
    """Run a child to its end."""

    def run(action: str, times: int = 1, *, failpoint: str = "", **variables: str) -> Child:
        return start_child(action, times, failpoint=failpoint, **variables).end()

    return run


@pytest.fixture
def promises(engine: Engine, owner: Caller, org: Scope) -> Callable[[list[tuple[str, str]]], int]:
    """Check what must hold whatever died; returns how many episodes are live."""

    def check(acked: list[tuple[str, str]]) -> int:
        ledger = verify_ledger(engine)
        assert ledger.faults == ()
        report = verify_index(engine)
        assert report.clean, report
        for episode_id, _ in acked:
            get_episode(engine, owner, org, episode_id)
        live, cursor = 0, None
        while True:
            page = list_episodes(engine, owner, org, EpisodeFilters(), k=200, cursor=cursor)
            live += len(page.episodes)
            cursor = page.next_cursor
            if cursor is None:
                return live

    return check
