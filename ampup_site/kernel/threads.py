"""The one bounded pool of threads in which the asynchronous edges run synchronous services."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_DEFAULT_THREADS: Final = 16


class ThreadPool:
    """Runs calls in at most `size` threads; more wait their turn.

    Args:
        around: called in the thread before and after each call, like Django's
            `close_old_connections`.
    """

    def __init__(self, size: int, *, around: Callable[[], object]) -> None:
        self._around = around
        self._executor = ThreadPoolExecutor(size, thread_name_prefix="service")

    async def run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what `call` returns, without holding up the event loop."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._executor, partial(self._call, partial(call, *args, **kwargs))
        )

    def _call(self, call: Callable[[], T]) -> T:
        self._around()
        try:
            return call()
        finally:
            self._around()


def _default_size() -> int:
    return _DEFAULT_THREADS


def _nothing() -> None:
    """Surround a call by nothing."""


_lock = threading.Lock()
_pool: ThreadPool | None = None
_size: Callable[[], int] = _default_size
_around: Callable[[], object] = _nothing


def configure(*, size: Callable[[], int], around: Callable[[], object]) -> None:
    """Say how large the pool will be and what surrounds each call, before its first use."""
    global _size, _around
    _size, _around = size, around


def pool() -> ThreadPool:
    """Return the process's pool, made at the first call."""
    global _pool
    if _pool is None:
        with _lock:
            if _pool is None:
                _pool = ThreadPool(_size(), around=_around)
    return _pool
