"""Loads: chunks that are whole or not there, repeats, refusals, and death in the middle."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from accounts.domain.caller import Caller, local_caller
from accounts.domain.roles import Role
from accounts.domain.scope import Scope
from accounts.services.authenticate import still_stands
from accounts.services.keys import revoke_key
from ampup_site.kernel.clock import Clock
from ampup_site.kernel.errors import Forbidden, TooLarge
from memory.domain.errors import ChildDied
from memory.domain.job import JobState, LoadIncomplete, RefusedItem
from memory.engine import Engine
from memory.models import JobLease, JobRun
from memory.search.episodes import EpisodeFilters
from memory.search.upkeep import TAIL_LIMIT
from memory.services import jobs, load_chunks, loads
from memory.services.episodes import ingest, list_episodes
from memory.services.indexing import verify as verify_index
from memory.services.ledger import log
from memory.services.ledger import verify as verify_ledger
from memory.services.load_chunks import LoadItem
from memory.services.load_landing import LoadReport
from memory.services.loads import load_items
from memory.services.preparing import EpisodeDraft
from tests.accounts.builders import a_key, signed_in
from tests.builders import episode, reader


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []
    monkeypatch.setattr(jobs, "ask_for", asked.append)
    return asked


def _draft(n: int, **fields: object) -> EpisodeDraft:
    return episode(f"Priya: number {n} is mine.", source=f"note:{n}", **fields)


def _items(count: int) -> list[LoadItem]:
    return [(str(n), _draft(n)) for n in range(1, count + 1)]


def _sources(engine: Engine, owner: Caller, scope: Scope) -> list[str]:
    found, cursor = [], None
    while True:
        page = list_episodes(engine, owner, scope, EpisodeFilters(), k=200, cursor=cursor)
        found += [item.source for item in page.episodes]
        cursor = page.next_cursor
        if cursor is None:
            return sorted(found, key=lambda source: int(source.rpartition(":")[2]))


def _wanted(count: int) -> list[str]:
    return [f"note:{n}" for n in range(1, count + 1)]


def test_a_load_lands_in_chunks_whose_commits_name_the_job(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: specification, section 15; and a second run changes nothing."""
    told: list[LoadReport] = []
    report = load_items(engine, owner, org, _items(1_100), progress=told.append)

    assert (report.created, report.repeated, report.refused) == (1_100, 0, ())
    assert [chunk.created for chunk in told] == [300, 300, 300, 200]
    rows = log(engine, owner, org).commits
    assert [row.commit_id for row in reversed(rows)] == list(report.commits)
    assert {(row.kind, row.job_id) for row in rows} == {("load", report.job)}
    assert _sources(engine, owner, org) == _wanted(1_100)

    again = load_items(engine, owner, org, _items(1_100))
    assert (again.created, again.repeated, again.commits) == (0, 1_100, report.commits)
    assert engine.warehouse.ledger_seq() == 4


def test_a_long_load_prepared_by_children_is_the_same_as_a_short_one(
    engine: Engine, owner: Caller, org: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: long bodies, blobs among them, come back from the children whole and in order."""
    monkeypatch.setattr(load_chunks, "SOLO_CHUNKS", 1)
    long: list[LoadItem] = [
        (str(n), episode(f"Priya: {n} " + "renewal " * 12_000, source=f"note:{n}"))
        for n in range(1, 41)
    ]
    report = load_items(engine, owner, org, long)

    assert report.created == 40
    assert len(report.commits) > 2
    assert _sources(engine, owner, org) == _wanted(40)
    assert verify_index(engine).clean
    assert verify_ledger(engine).faults == ()


def test_a_poisoned_item_is_refused_alone(engine: Engine, owner: Caller, org: Scope) -> None:
    """Documented: NUL, half characters, over-long and reserved things stand alone."""
    items = _items(6)
    items[1] = ("2", episode("a\x00b", source="note:2"))
    items[2] = ("3", episode("a \ud83d b", source="note:3"))
    items[3] = ("4", RefusedItem("4", "The line is no JSON."))
    items[4] = ("5", _draft(5, acl=("nobody",)))
    report = load_items(engine, owner, org, items)

    assert [item.position for item in report.refused] == ["4", "2", "3", "5"]
    assert all(item.reason for item in report.refused)
    assert _sources(engine, owner, org) == ["note:1", "note:6"]


def test_what_the_store_cannot_take_is_found_by_halves(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Ours: a moment outside what the tables hold fails only as it lands."""
    items = _items(9)
    items[4] = ("5", _draft(5, occurred_at=2**70))
    report = load_items(engine, owner, org, items)

    assert [item.position for item in report.refused] == ["5"]
    assert report.created == 8
    assert verify_index(engine).clean


def test_an_atomic_load_is_one_commit_or_nothing(engine: Engine, owner: Caller, org: Scope) -> None:
    """Documented: architecture, the write path."""
    bad = [*_items(600), ("601", episode("a\x00b", source="note:601"))]
    with pytest.raises(LoadIncomplete) as refusal:
        load_items(engine, owner, org, bad, atomic=True)
    assert "601" in refusal.value.message
    assert engine.warehouse.ledger_seq() == 0
    with pytest.raises(TooLarge):
        load_items(engine, owner, org, _items(5_001), atomic=True)
    assert engine.warehouse.ledger_seq() == 0

    report = load_items(engine, owner, org, _items(600), atomic=True)
    assert (report.created, len(report.commits)) == (600, 1)
    assert engine.warehouse.ledger_seq() == 1


def test_who_may_not_ingest_may_not_load(
    engine: Engine, org: Scope, tmp_path: Path, sent: list[str]
) -> None:
    """Documented: specification, section 4; nothing is spooled for them either."""
    with pytest.raises(Forbidden):
        load_items(engine, reader("bob"), org, _items(1))
    with pytest.raises(Forbidden):
        loads.start_load(engine, reader("bob"), org, [_draft(1)], spool=tmp_path / "spool")
    assert not (tmp_path / "spool").exists()
    assert sent == []


def test_a_background_load_acts_as_its_caller_and_lists_each_commit(
    engine: Engine, org: Scope, tmp_path: Path, sent: list[str]
) -> None:
    """Documented: specification, sections 15 and 21."""
    maker = signed_in(a_key(Role.SERVICE))
    drafts = [_draft(n) for n in range(1, 701)]
    drafts[6] = episode("half a \ud83d", source="note:7")
    job = loads.start_load(engine, maker, org, drafts, spool=tmp_path)
    assert sent == [job]
    assert [path.stat().st_mode & 0o777 for path in tmp_path.glob("job_*")] == [0o600]

    loads.run_load(engine, job, spool=tmp_path)

    view = jobs.get_job(engine, maker, org, job)
    assert (view.state, view.done, view.total, view.error) == (JobState.DONE, 700, 700, None)
    assert [item.position for item in view.refused] == ["7"]
    rows = log(engine, maker, org).commits
    assert [row.commit_id for row in reversed(rows)] == list(view.commits)
    assert {(row.author, row.job_id) for row in rows} == {(maker.author, job)}
    assert list(tmp_path.glob("job_*")) == []
    loads.run_load(engine, job, spool=tmp_path)
    assert jobs.get_job(engine, maker, org, job) == view


def test_a_key_that_is_revoked_stops_its_load_at_the_next_chunk(
    engine: Engine, owner: Caller, org: Scope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: what was promised went on for a key that no request could use any more."""
    key = a_key(Role.SERVICE)
    job = loads.start_load(
        engine, signed_in(key), org, [_draft(n) for n in range(1, 1_601)], spool=tmp_path
    )
    chunks: list[str | None] = []

    def revoked_before_the_third(caller: Caller, *, clock: Clock) -> bool:
        chunks.append(caller.key_id)
        if len(chunks) == 3:
            revoke_key(local_caller(), key.record.public_id, org=None, clock=clock)
        return still_stands(caller, clock=clock)

    monkeypatch.setattr(loads, "still_stands", revoked_before_the_third)
    loads.run_load(engine, job, spool=tmp_path)

    assert chunks == [key.record.public_id] * 3
    view = jobs.get_job(engine, owner, org, job)
    assert (view.state, view.done, len(view.commits)) == (JobState.FAILED, 600, 2)
    assert view.error == (
        "The key that this load acts by was revoked or has expired. 600 of 1,600 items were"
        " dealt with, 2 commits landed and stay."
    )
    assert _sources(engine, owner, org) == _wanted(600)
    assert JobRun.objects.get(job=job).error_code == "caller_gone"
    assert list(tmp_path.glob("job_*")) == []
    loads.run_load(engine, job, spool=tmp_path)
    assert jobs.get_job(engine, owner, org, job) == view


def test_a_source_nobody_claims_is_refused_unless_the_load_says_what_it_is(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: concepts, a corpus may be loaded from any source."""
    items: list[LoadItem] = [("1", episode(source="wiki:1"))]
    assert load_items(engine, owner, org, items, unclaimed=None).created == 0
    assert load_items(engine, owner, org, items).created == 1


def test_a_load_that_lost_its_spool_fails_and_says_so(
    engine: Engine, owner: Caller, org: Scope, tmp_path: Path
) -> None:
    """Ours: a run never ends in silence."""
    job = loads.start_load(engine, owner, org, [_draft(1)], spool=tmp_path)
    (tmp_path / f"{job}.jsonl").unlink()
    loads.run_load(engine, job, spool=tmp_path)

    view = jobs.get_job(engine, owner, org, job)
    assert view.state is JobState.FAILED
    assert view.error is not None
    assert "send it again" in view.error


def test_a_warehouse_that_cannot_be_written_leaves_the_load_for_later(
    engine: Engine, owner: Caller, org: Scope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: an outage is no failure of the load; it goes on by itself when it is over."""
    monkeypatch.setattr("memory.services.load_landing._RETRIES_SECS", ())
    job = loads.start_load(engine, owner, org, [_draft(1)], spool=tmp_path)
    with monkeypatch.context() as broken:
        broken.setattr(engine.warehouse, "make_durable", _no_room)
        loads.run_load(engine, job, spool=tmp_path)
    waiting = jobs.get_job(engine, owner, org, job)
    assert waiting.state is JobState.QUEUED
    assert waiting.error

    loads.run_load(engine, job, spool=tmp_path)
    done = jobs.get_job(engine, owner, org, job)
    assert (done.state, done.done, done.error) == (JobState.DONE, 1, None)
    assert JobRun.objects.get(job=job).attempts == 1


def test_a_chunk_that_met_a_short_outage_is_sent_again_and_stored_once(
    engine: Engine, owner: Caller, org: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: what a retry finds there already it names, and never doubles."""
    monkeypatch.setattr("memory.services.load_landing._RETRIES_SECS", (0.0,))
    real, calls = engine.warehouse.make_durable, []

    def once(*args: object) -> None:
        calls.append(args)
        if len(calls) == 1:
            _no_room()
        real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(engine.warehouse, "make_durable", once)
    report = load_items(engine, owner, org, _items(3))

    assert (report.created, report.repeated, len(report.commits)) == (3, 0, 1)
    assert len(calls) == 2
    assert _sources(engine, owner, org) == _wanted(3)


def test_a_server_that_stops_leaves_the_load_for_the_next_one(
    engine: Engine, owner: Caller, org: Scope, tmp_path: Path
) -> None:
    """Ours: a stop on purpose is no death, and the run says what it waits for."""
    job = loads.start_load(engine, owner, org, [_draft(1)], spool=tmp_path)
    engine.committer.close()
    loads.run_load(engine, job, spool=tmp_path)

    view = jobs.get_job(engine, owner, org, job)
    assert (view.state, view.done) == (JobState.QUEUED, 0)
    assert view.error is not None
    assert "stopping" in view.error
    assert JobRun.objects.get(job=job).attempts == 0
    assert not JobLease.objects.exists()


def test_a_load_whose_child_was_killed_is_tried_again_and_the_death_is_counted(
    engine: Engine, owner: Caller, org: Scope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: what kills its children by its size would have been tried for ever."""

    def killed(*_args: object, **_options: object) -> None:
        raise ChildDied("killed")

    job = loads.start_load(engine, owner, org, [_draft(1)], spool=tmp_path)
    monkeypatch.setattr(loads, "load_items", killed)
    loads.run_load(engine, job, spool=tmp_path)

    run = JobRun.objects.get(job=job)
    assert (run.state, run.attempts, run.error) == (JobState.QUEUED.value, 1, "killed")
    assert (tmp_path / f"{job}.jsonl").exists()


def test_a_load_waits_while_the_tail_of_vectors_is_long(
    engine: Engine, owner: Caller, org: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documented: architecture, the write path; above its limit the loader slows down."""
    lengths = [TAIL_LIMIT + 2, TAIL_LIMIT + 1, TAIL_LIMIT]
    landing = "memory.services.load_landing"
    monkeypatch.setattr(f"{landing}._TAIL_EVERY", 1)
    monkeypatch.setattr(f"{landing}._TAIL_PAUSE_SECS", 0.0)
    monkeypatch.setattr(f"{landing}.tail_length", lambda cursor, head: lengths.pop(0))

    assert load_items(engine, owner, org, _items(2)).created == 2
    assert lengths == []


def _no_room(*_args: object) -> None:
    raise OSError(28, "No space left on device")


def test_what_no_run_names_goes_from_the_spool_after_an_hour(
    engine: Engine, owner: Caller, org: Scope, tmp_path: Path
) -> None:
    """Ours: a process that died before it promised anything leaves no text behind."""
    job = loads.start_load(engine, owner, org, [_draft(1)], spool=tmp_path)
    for name in ("job_stray.jsonl", "job_young.jsonl.part"):
        (tmp_path / name).write_text("{}")
    for name in ("job_stray.jsonl", f"{job}.jsonl"):
        os.utime(tmp_path / name, (1, 1))

    assert loads.clean_spool(engine, spool=tmp_path) == 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == sorted(
        [f"{job}.jsonl", "job_young.jsonl.part"]
    )


_CHILD = """
import sys, django
django.setup()
from pathlib import Path
from memory.services import load_chunks, loads
from memory.wiring import engine, close_engine
load_chunks.SOLO_CHUNKS = 1  # children are there when their parent dies, and must die with it
loads.run_load(engine(), sys.argv[1], spool=Path(sys.argv[2]))
close_engine()
"""


@pytest.mark.parametrize("point", ["load.chunk@2", "landing.staged@2"])
def test_a_worker_killed_half_way_is_followed_by_one_that_ends_the_load(
    engine: Engine,
    owner: Caller,
    org: Scope,
    tmp_path: Path,
    point: str,
) -> None:
    """Documented: specification, section 21; each chunk is whole, and all are there once."""
    drafts = [_draft(n) for n in range(1, 1_601)]
    job = loads.start_load(engine, owner, org, drafts, spool=tmp_path)
    child = subprocess.run(
        [sys.executable, "-c", _CHILD, job, str(tmp_path)],
        env=os.environ
        | {
            "DJANGO_SETTINGS_MODULE": "ampup_site.settings.base",
            "AMPUP_MEMORY_DATABASE_URL": settings.AMPUP_DATABASE_DSN,
            "AMPUP_MEMORY_WAREHOUSE": str(settings.AMPUP_WAREHOUSE),
            "AMPUP_MEMORY_FAILPOINT": f"{point}=kill",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr
    there = _sources(engine, owner, org)
    assert len(there) in {*range(300, 1_600, 300), 1_600}  # the chunks in flight land or do not
    assert there == _wanted(len(there))
    half = jobs.get_job(engine, owner, org, job)
    assert half.state is JobState.RUNNING
    assert half.done <= len(there)

    loads.run_load(engine, job, spool=tmp_path)
    assert jobs.get_job(engine, owner, org, job) == half, "the dead worker's lease still lives"
    JobLease.objects.update(expires_at=0)
    loads.run_load(engine, job, spool=tmp_path)

    view = jobs.get_job(engine, owner, org, job)
    assert (view.state, view.done) == (JobState.DONE, 1_600)
    assert len(view.commits) == 6
    assert _sources(engine, owner, org) == _wanted(1_600)
    assert verify_ledger(engine).faults == ()
    assert verify_index(engine).clean


def test_two_loads_of_the_same_items_at_once_store_each_once(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Ours: a repeat within a load and beside it is recognised under the landing lock."""
    ingest(engine, owner, org, [_draft(3)]).wait()
    report = load_items(engine, owner, org, [*_items(5), *_items(5)])

    assert (report.created, report.repeated) == (4, 6)
    assert _sources(engine, owner, org) == _wanted(5)
