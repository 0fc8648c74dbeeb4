"""Leases, runs and what becomes of a job whose worker died."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from ampup_site.kernel.clock import Clock, Micros
from ampup_site.kernel.errors import Forbidden, NotFound
from memory.domain.job import (
    LEASE_TERM,
    MAX_ATTEMPTS,
    JobKind,
    JobState,
    LeaseLost,
    window_opened,
)
from memory.engine import Engine
from memory.models import JobLease, JobRun
from memory.services import holders, jobs, leases, loads, lost_jobs
from memory.services.episodes import get_episode, remember
from memory.services.lost_jobs import sweep_lost_jobs
from memory.services.upkeep import run_nightly
from tests.builders import NOON, episode, note, reader, service


class HandClock:
    """A clock that a test moves by hand."""

    def __init__(self, now: Micros = NOON) -> None:
        self.time = now

    def now(self) -> Micros:
        return self.time

    def pass_by(self, micros: int) -> None:
        self.time = Micros(self.time + micros)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def timed(engine: Engine, clock: Clock) -> Engine:
    """The engine under a clock that stands still until the test moves it."""
    return replace(engine, clock=clock)


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The jobs a worker was asked for; there is no worker."""
    asked: list[str] = []
    for asking in (jobs, lost_jobs):
        monkeypatch.setattr(asking, "ask_for", asked.append)
    return asked


def _queued(engine: Engine, caller: Caller, scope: Scope, spool: Path) -> str:
    return loads.start_load(engine, caller, scope, [episode()], spool=spool)


def test_a_lease_has_one_holder_until_it_ends(timed: Engine, clock: HandClock) -> None:
    """Documented: specification, section 19; only one worker runs a job."""
    first = leases.take_lease(timed, job="load", scope="org_default")
    assert first is not None
    assert leases.take_lease(timed, job="load", scope="org_default") is None
    assert leases.take_lease(timed, job="load", scope="team_a__b") is not None

    clock.pass_by(LEASE_TERM - 1)
    leases.renew(first)
    clock.pass_by(LEASE_TERM - 1)
    assert leases.take_lease(timed, job="load", scope="org_default") is None

    leases.release(first)
    assert leases.take_lease(timed, job="load", scope="org_default") is not None


def test_a_lease_that_ended_is_taken_over_and_its_old_holder_told(
    timed: Engine, clock: HandClock
) -> None:
    """Ours: a worker that was stopped and wakes up must not go on beside its successor."""
    slept = leases.take_lease(timed, job="load", scope="org_default")
    assert slept is not None
    clock.pass_by(LEASE_TERM)
    heir = leases.take_lease(timed, job="load", scope="org_default")
    assert heir is not None

    with pytest.raises(LeaseLost):
        leases.renew(slept)
    leases.release(slept)
    leases.renew(heir)


def test_a_job_is_shown_to_who_started_it_and_to_nobody_else(
    engine: Engine, owner: Caller, org: Scope, tmp_path: Path
) -> None:
    """Documented: specification, section 3; unreadable and missing answer alike."""
    job = _queued(engine, service("aaaaaaaa"), org, tmp_path)

    view = jobs.get_job(engine, service("aaaaaaaa"), org, job)
    assert (view.job, view.state, view.done, view.total) == (job, JobState.QUEUED, 0, 1)
    assert jobs.get_job(engine, owner, org, job) == view

    answers = set()
    for caller, scope, wanted in (
        (service("bbbbbbbb"), org, job),
        (owner, Scope.user_scope("priya"), job),
        (service("aaaaaaaa"), org, "job_00000000000000000000000000"),
        (service("aaaaaaaa"), org, "job_\x00\ud800"),
    ):
        if scope.user is not None:
            caller = replace(owner, user=scope.user)
        with pytest.raises(NotFound) as refusal:
            jobs.get_job(engine, caller, scope, wanted)
        answers.add((refusal.value.code, refusal.value.message, refusal.value.field))
    assert len(answers) == 1
    with pytest.raises(Forbidden):
        jobs.get_job(engine, reader("bob"), org, job)


def test_a_run_whose_worker_died_is_asked_for_again_and_lost_after_three_deaths(
    timed: Engine, clock: HandClock, owner: Caller, org: Scope, tmp_path: Path, sent: list[str]
) -> None:
    """Documented: a job lost to a crash is resumed or says so."""
    job = _queued(timed, owner, org, tmp_path)
    lost: tuple[str, ...] = ()
    for _ in range(MAX_ATTEMPTS):
        lease = leases.take_lease(timed, job=job, scope=org.namespace)
        assert lease is not None
        assert jobs.start_run(timed, lease) is not None
        assert sweep_lost_jobs(timed) == ()
        clock.pass_by(LEASE_TERM)
        lost = sweep_lost_jobs(timed)

    assert sent == [job] * MAX_ATTEMPTS
    assert lost == (job,)
    view = jobs.get_job(timed, owner, org, job)
    assert view.state is JobState.LOST
    assert view.error is not None
    assert "died 3 times" in view.error
    assert sweep_lost_jobs(timed) == ()


def test_a_run_that_is_renewed_is_left_alone_by_the_sweep(
    timed: Engine, clock: HandClock, owner: Caller, org: Scope, tmp_path: Path, sent: list[str]
) -> None:
    """Ours: a slow run is no dead run."""
    job = _queued(timed, owner, org, tmp_path)
    lease = leases.take_lease(timed, job=job, scope=org.namespace)
    assert lease is not None
    run = jobs.start_run(timed, lease)
    assert run is not None
    for done in range(3):
        clock.pass_by(LEASE_TERM - 1)
        jobs.progress(lease, run, done=done)
        sweep_lost_jobs(timed)

    assert sent == [job]


def test_the_lease_of_a_process_that_is_proven_dead_is_not_waited_for(
    timed: Engine,
    owner: Caller,
    org: Scope,
    tmp_path: Path,
    sent: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Regression: a killed server's load stood still for the 180 s of its lease and the sweep."""
    dead, unknown = "p_" + "0" * 26, "p_" + "1" * 26
    jobs_of = {}
    for process in (dead, unknown, None):
        monkeypatch.setattr(holders, "_name", process)
        job = _queued(timed, owner, org, tmp_path)
        lease = leases.take_lease(timed, job=job, scope=org.namespace)
        assert lease is not None
        assert jobs.start_run(timed, lease) is not None
        jobs_of[process] = job
    (tmp_path / "holders").mkdir()
    (tmp_path / "holders" / dead).write_text("")  # and nobody has it locked
    sent.clear()

    assert sweep_lost_jobs(timed) == ()
    assert sent == []
    assert sweep_lost_jobs(timed, holders=tmp_path / "holders") == ()
    assert sent == [jobs_of[dead]]
    assert set(JobLease.objects.values_list("job", flat=True)) == {
        jobs_of[unknown],
        jobs_of[None],
    }
    assert list((tmp_path / "holders").iterdir()) == []


def test_a_worker_asks_at_its_start_for_what_waits_in_its_own_spool(
    timed: Engine, owner: Caller, org: Scope, tmp_path: Path, sent: list[str]
) -> None:
    """Regression: a queue in memory goes with its process; another's spool is not here."""
    mine = _queued(timed, owner, org, tmp_path / "mine")
    _queued(timed, owner, org, tmp_path / "elsewhere")
    sent.clear()

    sweep_lost_jobs(timed)
    assert sent == []
    sweep_lost_jobs(timed, spool=tmp_path / "mine", at_start=True)
    assert sent == [mine]


def test_a_load_whose_items_are_on_another_server_waits_a_day_for_it(
    timed: Engine,
    owner: Caller,
    org: Scope,
    tmp_path: Path,
    clock: HandClock,
    sent: list[str],
) -> None:
    """Regression: servers that share a database took each other's silent loads, and failed."""
    job = _queued(timed, owner, org, tmp_path / "theirs")
    sent.clear()
    clock.pass_by(LEASE_TERM + 1)
    assert sweep_lost_jobs(timed, spool=tmp_path / "mine") == ()
    assert sent == []
    assert sweep_lost_jobs(timed, spool=tmp_path / "theirs") == ()
    assert sent == [job]
    clock.pass_by(24 * 3600 * 10**6 + 1)
    assert sweep_lost_jobs(timed, spool=tmp_path / "mine") == (job,)
    view = jobs.get_job(timed, owner, org, job)
    assert view.state is JobState.LOST
    assert view.error is not None
    assert "has been away for a day" in view.error
    assert "send the same load again" in view.error


def test_an_error_is_kept_without_what_a_row_cannot_hold(
    engine: Engine, owner: Caller, org: Scope, tmp_path: Path
) -> None:
    """Ours: the text of an error may quote anything."""
    job = _queued(engine, owner, org, tmp_path)
    run = JobRun.objects.get(job=job)
    jobs.finish(engine, run, error=NotFound("a\x00b \ud83d " + "x" * 1_000))

    view = jobs.get_job(engine, owner, org, job)
    assert view.state is JobState.FAILED
    assert view.error is not None
    assert view.error.startswith("a\N{REPLACEMENT CHARACTER}b ? ")
    assert len(view.error) == 500


@pytest.mark.parametrize(
    ("minute", "start", "end", "opened"),
    [
        (119, 120, 240, None),
        (120, 120, 240, 120),
        (239, 120, 240, 120),
        (240, 120, 240, None),
        (30, 1380, 60, -60),
        (1381, 1380, 60, 1380),
        (60, 1380, 60, None),
        (5, 0, 0, None),
    ],
)
def test_the_nightly_window_may_cross_midnight(
    minute: int, start: int, end: int, opened: int | None
) -> None:
    """Documented: specification, section 18."""
    day = 20_000 * 24 * 60
    found = window_opened(Micros((day + minute) * 60_000_000 + 7), start=start, end=end)
    assert found == (None if opened is None else (day + opened) * 60_000_000)


def test_the_nightly_upkeep_runs_once_within_its_window(
    timed: Engine, clock: HandClock, owner: Caller, org: Scope
) -> None:
    """Documented: specification, section 19; and every answer is as before."""
    kept = remember(timed, owner, org, note()).wait()
    minute = clock.now() // 60_000_000 % 1_440
    around: dict[str, Any] = {"start": minute, "end": (minute + 1) % 1_440}
    shut: dict[str, Any] = {"start": (minute + 1) % 1_440, "end": (minute + 2) % 1_440}

    assert run_nightly(timed, **shut) is None
    report = run_nightly(timed, **around)
    assert report is not None
    assert (report.tables > 0, report.left) == (True, 0)
    assert run_nightly(timed, **around) is None
    clock.pass_by(86_400_000_000)
    assert run_nightly(timed, **around) is not None
    assert get_episode(timed, owner, org, kept.episode_id).body == note().body


def test_an_upkeep_that_fails_says_why_and_is_tried_three_times_a_night(
    timed: Engine, clock: HandClock, owner: Caller, org: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a failure is a row of its own, and never ends the timer."""
    remember(timed, owner, org, note()).wait()
    minute = clock.now() // 60_000_000 % 1_440
    around: dict[str, Any] = {"start": minute, "end": (minute + 1) % 1_440}
    with monkeypatch.context() as full:
        full.setattr("memory.services.upkeep.compact", _no_room)
        for _ in range(MAX_ATTEMPTS):
            assert run_nightly(timed, **around) is None
    assert run_nightly(timed, **around) is None
    runs = list(JobRun.objects.values_list("state", "error"))
    assert (
        runs
        == [("failed", "The server's disk or network failed: No space left on device.")]
        * MAX_ATTEMPTS
    )
    assert not JobLease.objects.exists()


def test_an_upkeep_whose_worker_died_is_lost_and_begun_again(
    timed: Engine, clock: HandClock
) -> None:
    """Ours: the timer is its own resumption."""
    run = jobs.record_run(
        timed, kind=JobKind.COMPACT, namespace="memory_system", author="job:compact"
    )
    clock.pass_by(LEASE_TERM)
    assert sweep_lost_jobs(timed) == (run.job,)
    minute = clock.now() // 60_000_000 % 1_440
    assert run_nightly(timed, start=minute, end=(minute + 1) % 1_440) is not None


def _no_room(*_args: object) -> None:
    raise OSError(28, "No space left on device")
