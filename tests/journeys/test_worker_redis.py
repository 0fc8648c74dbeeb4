"""A worker of its own on Redis: it dies half way through a load, and the next one ends it."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import pytest
from django.conf import settings

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from memory.domain.job import JobState, JobView
from memory.engine import Engine
from memory.models import JobLease, JobRun
from memory.search.episodes import EpisodeFilters
from memory.services.episodes import list_episodes
from memory.services.jobs import get_job
from memory.services.ledger import log
from memory.services.ledger import verify as verify_ledger

EPISODES = 1_600
_PATIENCE_SECS = 90.0

_WEB = f"""
import django
django.setup()
from pathlib import Path
from django.conf import settings
import ampup_site.celery
from accounts.domain.caller import local_caller
from accounts.domain.scope import Scope
from memory.services.loads import start_load
from memory.services.preparing import EpisodeDraft
from memory.services.spool import FOLDER
from memory.wiring import close_engine, engine
drafts = [
    EpisodeDraft(source=f"note:{{n}}", body=f"Number {{n}} is kept.", occurred_at=n)
    for n in range({EPISODES})
]
spool = Path(settings.AMPUP_DATA_DIR) / FOLDER
print(start_load(engine(), local_caller(), Scope.org_scope("default"), drafts, spool=spool))
close_engine()
"""


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[str]:
    """A Redis of this test's own, on a socket in its folder."""
    program = shutil.which("redis-server")
    if program is None:
        if os.environ.get("REQUIRE_REDIS") == "1":
            pytest.fail("redis-server is not installed, and REQUIRE_REDIS=1 asks for it")
        pytest.skip("redis-server is not installed; the split worker is not tested here")
    socket = tmp_path / "redis.sock"
    options = ("--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(tmp_path))
    server = subprocess.Popen([program, *options], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    for line in server.stdout:
        if "ready to accept connections" in line.lower():
            break
    drain = threading.Thread(target=server.stdout.read, daemon=True)
    drain.start()
    yield f"redis+socket://{socket}"
    server.terminate()
    server.wait(20)
    drain.join(20)
    server.stdout.close()


def _environment(broker: str, data: Path, **more: str) -> dict[str, str]:
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "ampup_site.settings.base",
        "AMPUP_MEMORY_DATABASE_URL": settings.AMPUP_DATABASE_DSN,
        "AMPUP_MEMORY_WAREHOUSE": str(settings.AMPUP_WAREHOUSE),
        "AMPUP_MEMORY_DATA_DIR": str(data),
        "AMPUP_MEMORY_SESSION_SWEEP_SECS": "1",
        "CELERY_BROKER_URL": broker,
        **more,
    }


def _worker(environment: dict[str, str], log_file: Path) -> "subprocess.Popen[bytes]":
    with log_file.open("wb") as out:
        return subprocess.Popen(
            [sys.executable, "-m", "ampup_site.shell", "worker"],
            env=environment,
            stdout=out,
            stderr=out,
        )


def _until(done: Callable[[], bool]) -> bool:
    end = monotonic() + _PATIENCE_SECS
    while not done():
        if monotonic() > end:
            return False
        threading.Event().wait(0.2)
    return True


@pytest.mark.timeout(240)
def test_a_separate_worker_on_redis_does_a_background_load_through_a_death(
    engine: Engine, owner: Caller, org: Scope, broker: str, tmp_path: Path
) -> None:
    """Documented: a job lost to a crash is resumed, with a worker of its own too."""
    data = tmp_path / "data"
    kill = {"AMPUP_MEMORY_FAILPOINT": "load.chunk@2=kill"}
    asked = subprocess.run(
        [sys.executable, "-c", _WEB],
        env=_environment(broker, data),
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert asked.returncode == 0, asked.stderr
    job = asked.stdout.split()[-1]

    def view() -> JobView:
        return get_job(engine, owner, org, job)

    assert view().state is JobState.QUEUED
    first = _worker(_environment(broker, data, **kill), tmp_path / "first.log")
    assert first.wait(_PATIENCE_SECS) == -signal.SIGKILL, (tmp_path / "first.log").read_text()
    assert view().state is JobState.RUNNING
    assert view().done < EPISODES

    # What a minute and a half of silence does; nobody wants to wait for it here.
    JobLease.objects.update(expires_at=0)
    JobRun.objects.update(heartbeat_at=0)
    second = _worker(_environment(broker, data), tmp_path / "second.log")
    try:
        ended = _until(lambda: view().state is JobState.DONE)
    finally:
        second.send_signal(signal.SIGTERM)
        code = second.wait(30)

    assert ended, (view(), (tmp_path / "second.log").read_text())
    assert code == 0, (tmp_path / "second.log").read_text()
    assert (view().done, view().error) == (EPISODES, None)
    assert [row.commit_id for row in reversed(log(engine, owner, org).commits)] == list(
        view().commits
    )
    found, cursor = [], None
    while True:
        page = list_episodes(engine, owner, org, EpisodeFilters(), k=200, cursor=cursor)
        found += [item.source for item in page.episodes]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(found) == sorted(f"note:{n}" for n in range(EPISODES))
    assert verify_ledger(engine).faults == ()
    assert list((data / "spool").iterdir()) == []
