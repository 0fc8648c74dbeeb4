"""Children that die on cue, and the promises that must hold after any death."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.conf import settings

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from memory.engine import Engine
from memory.search.episodes import EpisodeFilters
from memory.services.episodes import get_episode, list_episodes
from memory.services.indexing import verify as verify_index
from memory.services.ledger import verify as verify_ledger

ROUNDS = int(os.environ.get("CRASH_ROUNDS", "2"))
"""How often each death is died: twice in `make test`, more in `make torture`."""


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


def start_child(
    action: str, times: int = 1, *, failpoint: str = "", **variables: str
) -> "subprocess.Popen[str]":
    """Start a child on this test's stores."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "ampup_site.settings.base",
        "AMPUP_MEMORY_DATABASE_URL": settings.AMPUP_DATABASE_DSN,
        "AMPUP_MEMORY_WAREHOUSE": str(settings.AMPUP_WAREHOUSE),
        "AMPUP_MEMORY_FAILPOINT": failpoint,
        **variables,
    }
    return subprocess.Popen(
        [sys.executable, "-m", "tests.crash.child", action, str(times)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def end_of(process: "subprocess.Popen[str]") -> Child:
    """Wait for a child."""
    out, errors = process.communicate(timeout=120)
    return Child(process.returncode, tuple(out.splitlines()), errors)


@pytest.fixture
def run_child(engine: Engine) -> Callable[..., Child]:
    """Run a child to its end."""
    del engine

    def run(action: str, times: int = 1, *, failpoint: str = "", **variables: str) -> Child:
        return end_of(start_child(action, times, failpoint=failpoint, **variables))

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
