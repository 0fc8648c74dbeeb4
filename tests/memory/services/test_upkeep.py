"""Upkeep as a server runs it: by timers, one server at a time."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from ampup_site.kernel.clock import Micros
from memory.domain.job import LEASE_TERM
from memory.engine import Engine
from memory.models import JobLease
from memory.services import leases, upkeep
from memory.services.episodes import remember
from memory.services.ledger import verify as verify_ledger
from memory.tables.upkeep import METADATA_AGE
from memory.tables.warehouse import Warehouse
from tests.builders import note
from tests.memory.tables.book import StillClock, paths_below

HOUR = Micros(3_600_000_000)


@pytest.fixture
def clock(engine: Engine) -> StillClock:
    """The clock of upkeep, an hour after everything that the test writes."""
    clock = StillClock(engine.clock.now() + HOUR)
    engine.warehouse.clock = clock
    return clock


@pytest.fixture
def timed(engine: Engine, clock: StillClock) -> Engine:
    """The engine under that clock."""
    return replace(engine, clock=clock)


@pytest.fixture
def write(engine: Engine, owner: Caller, org: Scope) -> Callable[[int], None]:
    """Write so many notes, a commit each."""
    written = iter(range(1_000))

    def some(count: int) -> None:
        for _ in range(count):
            remember(engine, owner, org, note(f"Note {next(written)}.")).wait()

    return some


def test_removal_by_the_hour_sees_a_file_twice_and_leaves_all_history(
    timed: Engine, clock: StillClock, write: Callable[[int], None]
) -> None:
    """Documented: at least hourly on a busy server; metadata goes at the second look."""
    write(45)
    held = _metadata(timed)
    first = upkeep.remove_unreachable_files(timed)
    assert first is not None
    assert (first.tables, first.files, first.failed) == (3, 0, 0)
    assert first.waiting > 3 * 20
    clock.at += METADATA_AGE
    second = upkeep.remove_unreachable_files(timed)
    assert second is not None
    assert (second.files, second.waiting) == (first.waiting, 0)
    assert second.bytes > 0
    assert len(_metadata(timed)) == len(held) - second.files
    assert verify_ledger(timed).faults == ()
    assert not JobLease.objects.exists()


def test_two_servers_do_not_remove_at_once(
    timed: Engine, clock: StillClock, write: Callable[[int], None]
) -> None:
    """Ours: who holds the lease works; a dead holder blocks nobody for long."""
    write(1)
    assert leases.take_lease(timed, job="remove", scope="memory_system") is not None
    assert upkeep.remove_unreachable_files(timed) is None
    clock.at += LEASE_TERM
    assert upkeep.remove_unreachable_files(timed) is not None


def test_a_server_that_lost_its_lease_stops(
    timed: Engine, write: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the one that took over does the rest."""
    write(1)
    looked: list[object] = []

    def look(_warehouse: object, key: object) -> None:
        looked.append(key)
        JobLease.objects.update(holder="w_another")

    monkeypatch.setattr(upkeep, "remove_unreachable", look)
    assert upkeep.remove_unreachable_files(timed) is None
    assert len(looked) == 1
    assert JobLease.objects.get().holder == "w_another"


def test_a_table_that_cannot_be_looked_through_holds_up_no_other(
    timed: Engine,
    clock: StillClock,
    write: Callable[[int], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ours: one damaged file does not let all tables grow."""
    write(1)
    _newest(timed.warehouse.root / "org_default" / "episodes").write_bytes(b"{")
    report = upkeep.remove_unreachable_files(replace(timed, warehouse=_reopened(timed, clock)))
    assert report is not None
    assert (report.tables, report.failed) == (2, 1)
    assert "nothing was removed from org_default.episodes" in caplog.text


def test_the_night_compacts_every_table_and_leaves_off_when_told(
    timed: Engine, write: Callable[[int], None]
) -> None:
    """Documented: compaction as far as it goes; what the window leaves waits for the next."""
    write(50)
    seen: list[tuple[int, int]] = []
    asked = iter([True, False])
    left = upkeep.compact_tables(timed, go_on=lambda: next(asked, False), done=_unheard)
    assert (left.rewritten, left.left) == (0, 2)
    whole = upkeep.compact_tables(
        timed, go_on=lambda: True, done=lambda done, total: seen.append((done, total))
    )
    assert (whole.tables, whole.rewritten, whole.left) == (3, 150, 0)
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert verify_ledger(timed).faults == ()


def _unheard(done: int, total: int) -> None:
    del done, total


def _metadata(engine: Engine) -> set[Path]:
    return {path for path in paths_below(engine.warehouse.root) if path.parent.name == "metadata"}


def _newest(table: Path) -> Path:
    return max((table / "metadata").glob("*.metadata.json"))


def _reopened(engine: Engine, clock: StillClock) -> Warehouse:
    return Warehouse(root=engine.warehouse.root, dsn=engine.index.dsn, clock=clock)
