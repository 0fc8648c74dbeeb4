"""Our supervisor of the embedded Postgres: attach to the running one, or start it.

Every process that uses a server holds `users.lock` shared, so the kernel forgets those that are
killed; who starts or stops one holds `change.lock`. The last user stops the server. One that a
killed process left running is simply used by the next.
"""

import fcntl
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Final

import psycopg
from psycopg import sql

from ampup_site.postgres.binaries import Binaries, find_binaries
from ampup_site.postgres.cluster import claim_folder, prepare
from ampup_site.postgres.errors import StartFailed
from ampup_site.postgres.layout import ROLE, Layout

_START_SECS: Final = 120  # recovery after a crash replays the whole log first
_STOP_SECS: Final = 30
_ORPHAN_SECS: Final = 30
_PAUSE_SECS: Final = 0.02
_NO_PROCESS: Final = 2**31 - 2  # above every system's highest process id


@dataclass(slots=True)
class LocalPostgres:
    """An embedded server that this process uses.

    Args:
        layout: its files.
        users: descriptor of the shared lock that says so.
    """

    layout: Layout
    users: int
    uses: int = 1
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def dsn(self) -> str:
        """The libpq URL of the database."""
        return self.layout.dsn()

    def ensure_running(self) -> None:
        """Start the server again if it died under its users.

        Raises:
            StartFailed: it does not start.
        """
        if running_pid(self.layout) is None:
            with self.lock, _held(self.layout.change_lock):
                _ensure_running(self.layout, find_binaries())


_attached: dict[Path, LocalPostgres] = {}
_attaching: Final = threading.Lock()


@contextmanager
def attach(data: Path) -> Iterator[LocalPostgres]:
    """Use the data folder's server within the context; a process may do so many times.

    Raises:
        DatabaseUnavailable: there is none and none can be started; its subclasses say why.
    """
    data = data.absolute()
    with _attaching:
        server = _attached.get(data)
        if server is None:
            server = _attached[data] = _attach(data)
        else:
            server.uses += 1
    try:
        yield server
    finally:
        with _attaching:
            server.uses -= 1
            if server.uses == 0:
                del _attached[data]
                _detach(server)


def attached(data: Path) -> LocalPostgres | None:
    """Return the data folder's server if this process uses it."""
    return _attached.get(data.absolute())


def running_pid(layout: Layout) -> int | None:
    """Return the process id of the cluster's live postmaster, None if there is none."""
    try:
        pid = int((layout.cluster / "postmaster.pid").read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    return pid if _is_postmaster(pid, layout.cluster) else None


def _attach(data: Path) -> LocalPostgres:
    layout = claim_folder(data)
    with _held(layout.change_lock):
        users = os.open(layout.users_lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(users, fcntl.LOCK_SH)
            layout = _ensure_running(layout, find_binaries())
        except BaseException:
            os.close(users)
            raise
    return LocalPostgres(layout=layout, users=users)


def _detach(server: LocalPostgres) -> None:
    """Leave; stop the server if nobody else uses it."""
    with _held(server.layout.change_lock):
        try:
            fcntl.flock(server.users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            stop(server.layout)
        finally:
            os.close(server.users)


def _ensure_running(layout: Layout, binaries: Binaries) -> Layout:
    if running_pid(layout) is None:
        layout = prepare(layout.data, binaries)
        _forget_dead(layout)
        _start(layout, binaries)
    _wait_for_answer(layout)
    return layout


def _start(layout: Layout, binaries: Binaries) -> None:
    """Start the server; backends of a killed one may take a while to notice and leave.

    Raises:
        StartFailed: it does not start; the message has the server's own last word.
    """
    words = ("-D", str(layout.cluster), "-w", "-t", str(_START_SECS), "-l", str(layout.log))
    end = monotonic() + _ORPHAN_SECS
    while True:
        layout.log.unlink(missing_ok=True)
        try:
            binaries.run("pg_ctl", "start", *words)
        except StartFailed as error:
            last = _last_word(layout.log) or error.message
            if "shared memory block" in last and monotonic() < end:
                threading.Event().wait(0.5)
                continue
            message = f"The embedded Postgres does not start: {last} (see {layout.log})."
            raise StartFailed(message) from error
        return


def _last_word(log: Path) -> str:
    said = log.read_text(errors="replace").splitlines() if log.exists() else []
    return next((line for line in reversed(said) if "FATAL" in line or "ERROR" in line), "")


def _wait_for_answer(layout: Layout) -> None:
    """Wait until the server takes connections, and see that our database is there.

    Raises:
        StartFailed: it does not within the time that a recovery may take.
    """
    end = monotonic() + _START_SECS
    while True:
        try:
            with psycopg.connect(layout.dsn("postgres"), autocommit=True) as connection:
                name = sql.Identifier(ROLE)
                found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (ROLE,))
                if found.fetchone() is None:
                    connection.execute(sql.SQL("CREATE DATABASE {}").format(name))
                return
        except psycopg.OperationalError as error:
            if monotonic() > end or running_pid(layout) is None:
                message = f"The embedded Postgres does not answer (see {layout.log})."
                raise StartFailed(message) from error
        threading.Event().wait(_PAUSE_SECS)


def stop(layout: Layout) -> None:
    """Stop the server: a fast shutdown, and after a while an immediate one (its log is safe)."""
    for how in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        pid = running_pid(layout)
        if pid is None:
            return
        os.kill(pid, how)
        end = monotonic() + _STOP_SECS
        while _is_postmaster(pid, layout.cluster) and monotonic() < end:
            threading.Event().wait(_PAUSE_SECS)


def _forget_dead(layout: Layout) -> None:
    """Put a number that no process has into the lock files of a dead server.

    Its own number may be another process's by now, or stay with a zombie where init reaps none;
    Postgres would then refuse to start. The files stay, because Postgres also looks in them for
    the shared memory of a backend that outlives its postmaster.
    """
    for lock in (layout.cluster / "postmaster.pid", layout.socket / ".s.PGSQL.5432.lock"):
        try:
            _number, _, rest = lock.read_text().partition("\n")
        except OSError:
            continue
        lock.write_text(f"{_NO_PROCESS}\n{rest}")


def _is_postmaster(pid: int, cluster: Path) -> bool:
    """Say whether a process is this cluster's postmaster, and not one that got its number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    proc = Path("/proc") / str(pid)
    if not proc.parent.joinpath("self").exists():
        return True  # no /proc to ask, as on macOS: the number has to do
    try:
        words = (proc / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return os.fsencode(cluster) in words and Path(os.fsdecode(words[0])).name == "postgres"


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Hold a file's lock exclusively."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
