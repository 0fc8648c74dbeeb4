"""Processes whose death is told at once, by the lock that goes with them."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ampup_site.kernel.clock import SystemClock
from ampup_site.kernel.ids import UlidSource
from memory.services import holders

_OTHER = """
import sys
from pathlib import Path
from ampup_site.kernel.clock import SystemClock
from ampup_site.kernel.ids import UlidSource
from memory.services import holders
holders.appear(Path(sys.argv[1]), UlidSource(SystemClock()))
print(holders.this_process(), flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process as it was before it did any background work."""
    monkeypatch.setattr(holders, "_name", None)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Another process that has appeared, and its name."""
    words = [sys.executable, "-c", _OTHER, str(tmp_path)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
        process.kill()


def test_a_process_is_dead_once_it_is_killed_and_not_before(
    other: tuple["subprocess.Popen[str]", str], tmp_path: Path
) -> None:
    """Ours: no pid is asked, so none that was given again can mislead."""
    process, name = other
    assert not holders.is_dead(tmp_path, name)
    holders.bury(tmp_path)
    assert (tmp_path / name).exists()
    process.kill()
    process.wait(30)
    assert holders.is_dead(tmp_path, name)
    holders.bury(tmp_path)
    assert not (tmp_path / name).exists()
    assert not holders.is_dead(tmp_path, name), "a file that is gone proves nothing"


def test_a_process_appears_once_and_sees_itself_alive(tmp_path: Path) -> None:
    """Ours: its own sweep leaves its leases alone."""
    ids = UlidSource(SystemClock())
    holders.appear(tmp_path / "new", ids)
    name = holders.this_process()
    assert name is not None
    holders.appear(tmp_path / "new", ids)
    assert holders.this_process() == name
    assert not holders.is_dead(tmp_path / "new", name)


def test_what_is_no_name_of_ours_is_no_path(tmp_path: Path) -> None:
    """Ours: a lease's holder is a text from a database."""
    (tmp_path / "victim").write_text("")
    for name in ("victim", "../victim", "", "p_", f"p_{'0' * 25}/"):
        assert not holders.is_dead(tmp_path / "sub", name)
        assert not holders.is_dead(tmp_path, name)


def test_a_folder_that_cannot_be_made_leaves_leases_to_end_by_themselves(tmp_path: Path) -> None:
    """Ours: a full disk stops no work."""
    (tmp_path / "file").write_text("")
    holders.appear(tmp_path / "file" / "holders", UlidSource(SystemClock()))
    assert holders.this_process() is None
