"""Web, MCP, worker and beat in one process, up until a signal."""

import asyncio
import fcntl
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import uvicorn
from typing_extensions import override

from ampup_site.kernel.errors import AmpUpError, ErrorKind
from ampup_site.postgres.errors import AlreadyServed

logger = logging.getLogger(__name__)

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_DRAIN_SECS: Final = 5
_WATCH_SECS: Final = 2.0


class PortTaken(AmpUpError):
    """The address is in use, or not this machine's."""

    kind = ErrorKind.CONFLICT
    code = "port_taken"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """The address as a link."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


class Server(uvicorn.Server):
    """uvicorn that says when it is ready and ends quietly at a signal."""

    def __init__(self, config: uvicorn.Config, *, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        await super().startup(sockets=sockets)
        if self.started and not self.should_exit:
            self._ready()

    @contextmanager
    @override
    def capture_signals(self) -> Iterator[None]:
        """Stop at the first signal, at once at the second; none is raised again afterwards."""
        loop = asyncio.get_running_loop()
        signals = (signal.SIGINT, signal.SIGTERM)
        for each in signals:
            loop.add_signal_handler(each, self.handle_exit, each, None)
        try:
            yield
        finally:
            for each in signals:
                loop.remove_signal_handler(each)


def listen(address: Address) -> tuple[socket.socket, Address]:
    """Return a listening socket and where it listens: port 0 takes a free one.

    Raises:
        PortTaken: it cannot listen there.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # TCP by name: without it the event loop leaves Nagle on, and every answer comes 40 ms late.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address.host, address.port))
        listening.listen(2048)
    except OSError as error:
        listening.close()
        message = (
            f"Cannot listen at {address.host}:{address.port} ({error.strerror});"
            " choose another --port or --host."
        )
        raise PortTaken(message, field="port") from error
    return listening, Address(address.host, int(listening.getsockname()[1]))


@contextmanager
def only_server_of(data: Path) -> Iterator[Callable[[str], None]]:
    """Be the one server of a data folder; yields a function that notes the address for others.

    Raises:
        AlreadyServed: another one runs.
    """
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(data / "serve.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            where = os.pread(descriptor, 200, 0).decode(errors="replace").strip() or "starting"
            message = (
                f"A server already runs on {data} ({where});"
                " stop it, or name another folder by AMPUP_MEMORY_DATA_DIR."
            )
            raise AlreadyServed(message) from None

        def note(where: str) -> None:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{where}, process {os.getpid()}\n".encode(), 0)

        note("starting")
        yield note
    finally:
        os.close(descriptor)


def run_web(application: Any, listening: socket.socket, *, ready: Callable[[], None]) -> None:
    """Serve until a signal; requests under way have a few seconds to end."""
    config = uvicorn.Config(
        application,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_DRAIN_SECS,
        timeout_keep_alive=30,
        h11_max_incomplete_event_size=64 * 2**10,
    )
    Server(config, ready=ready).run(sockets=[listening])


@contextmanager
def watched(look: Callable[[], None]) -> Iterator[None]:
    """Call `look` every few seconds from a thread of its own; its failures are logged."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_WATCH_SECS):
            try:
                look()
            except AmpUpError as error:
                logger.warning("%s", error.message)
            except Exception:
                # A full disk too: the next look may succeed, and nobody else looks.
                logger.exception("the watch failed and goes on")

    thread = threading.Thread(target=watch, name="watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
