"""A real server process under measurement: `serve --local` on a free port."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from bench.wire import Connection

HOST: Final = "127.0.0.1"
_READY_SECS: Final = 60.0
_ROOT: Final = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Server:
    """Where the server listens, and the process it is."""

    port: int
    pid: int

    def connection(self) -> Connection:
        """Return a client's connection, not open yet."""
        return Connection(HOST, self.port)


@contextmanager
def serving(*, dsn: str, data_dir: Path, log: Path) -> Iterator[Server]:
    """Run a server over a database and a data folder until the block ends.

    Args:
        dsn: libpq URL of the database.
        data_dir: the data folder.
        log: takes what the server prints; its end is in the error if it does not start.

    Raises:
        RuntimeError: it was not ready in time, or did not end on SIGTERM.
    """
    with _running(data_dir, log, AMPUP_MEMORY_DATABASE_URL=dsn) as server:
        yield server


@contextmanager
def serving_alone(data_dir: Path, **more: str) -> Iterator[str]:
    """Run a server with an embedded Postgres of its own until the block ends; yields its URL.

    Args:
        more: environment variables.

    Raises:
        RuntimeError: it was not ready in time, or did not end on SIGTERM.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    with _running(data_dir, data_dir / "server.log", **more) as server:
        yield f"http://{HOST}:{server.port}"


@contextmanager
def _running(data_dir: Path, log: Path, **more: str) -> Iterator[Server]:
    port = _free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 -- our own command
            [sys.executable, "manage.py", "serve", "--local", "--port", str(port)],
            cwd=_ROOT,
            env={**os.environ, "AMPUP_MEMORY_DATA_DIR": str(data_dir), **more},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait_ready(process, port, log)
            yield Server(port, process.pid)
        finally:
            _end(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _wait_ready(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    end = monotonic() + _READY_SECS
    while monotonic() < end and process.poll() is None:
        try:
            connection = http.client.HTTPConnection(HOST, port, timeout=5)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        sleep(0.1)
    tail = log.read_text(errors="replace")[-2_000:]
    message = f"the server was not ready in {_READY_SECS:.0f} s; it said:\n{tail}"
    raise RuntimeError(message)


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        message = "the server did not end within 30 s of SIGTERM"
        raise RuntimeError(message) from None
