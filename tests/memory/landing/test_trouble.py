"""Full disks and warehouses that only read."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from accounts.services.orgs import ensure_default_org
from ampup_site.kernel.clock import SystemClock
from ampup_site.kernel.errors import AmpUpError
from memory import wiring
from memory.engine import Engine
from memory.services import indexing, ledger
from memory.services.episodes import get_episode, remember
from memory.services.search import PassageQuery, find_passages
from tests.builders import note
from tests.conftest import forget_everything


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True, capture_output=True)


@pytest.fixture
def small_disk(
    transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """An empty server whose warehouse is a disk of 2 MB of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    try:
        _mount("-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk))
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting a small disk takes root")
    monkeypatch.setattr(settings, "AMPUP_WAREHOUSE", disk / "warehouse")
    wiring.close_engine()
    forget_everything(settings.AMPUP_DATABASE_DSN)
    ensure_default_org(settings.AMPUP_DEFAULT_ORG, clock=SystemClock())
    yield disk
    wiring.close_engine()
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def _refused(engine: Engine, owner: Caller, org: Scope, text: str) -> AmpUpError:
    with pytest.raises(AmpUpError) as refused:
        remember(engine, owner, org, note(text)).wait()
    return refused.value


def _fill(filler: Path) -> None:
    with filler.open("wb", buffering=0) as out:
        while True:
            out.write(bytes(2**12))


def test_a_full_disk_refuses_writes_whole_and_serves_again_once_there_is_room(
    small_disk: Path, owner: Caller, org: Scope
) -> None:
    """Documented: "What must survive": a clear error, service resumes by itself."""
    engine = wiring.engine()
    kept = remember(engine, owner, org, note("Before the disk was full.")).wait()
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space"):
        _fill(filler)
    for n in range(3):
        error = _refused(engine, owner, org, f"There is no room {n}.")
        assert (error.code, str(small_disk) in error.message) == ("storage_unavailable", False)
    assert find_passages(engine, owner, org, PassageQuery("room")) == ()
    assert get_episode(engine, owner, org, kept.episode_id).body == "Before the disk was full."

    filler.unlink()
    assert remember(engine, owner, org, note("There is no room 0.")).wait().created
    assert engine.warehouse.ledger_seq() == 2
    assert ledger.verify(engine).faults == ()
    assert indexing.verify(engine).clean


def test_a_warehouse_that_only_reads_refuses_writes_and_still_answers(
    small_disk: Path, owner: Caller, org: Scope
) -> None:
    """Documented: "What must survive": a read-only warehouse; reads go on."""
    engine = wiring.engine()
    kept = remember(engine, owner, org, note()).wait()
    _mount("-o", "remount,ro", str(small_disk))
    assert _refused(engine, owner, org, "More.").code == "storage_unavailable"
    assert get_episode(engine, owner, org, kept.episode_id).episode_id == kept.episode_id

    _mount("-o", "remount,rw", str(small_disk))
    assert remember(engine, owner, org, note("More.")).wait().created
    assert ledger.verify(engine).faults == ()
    assert indexing.verify(engine).clean
