"""Child processes for work that would hold the interpreter's lock against everybody else."""

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Final, TypeVar

A = TypeVar("A")
B = TypeVar("B")

_AHEAD: Final = 2
"""Pieces in work or waiting for each process: enough to keep it busy, few enough to hold."""


@contextmanager
def children(
    work: Callable[[A], B], *, workers: int | None = None
) -> Iterator[Callable[[Iterable[A]], Iterator[B]]]:
    """Lend a map over pieces, in order, that runs in child processes some pieces ahead.

    Args:
        work: importable by name; it and what it takes and gives are pickled.
    """
    count = workers or os.cpu_count() or 1
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(count, mp_context=context, initializer=_end_with_parent) as pool:

        def run(pieces: Iterable[A]) -> Iterator[B]:
            running: deque[Future[B]] = deque()
            for piece in pieces:
                running.append(pool.submit(work, piece))
                if len(running) >= count * _AHEAD:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()

        yield run


def _end_with_parent() -> None:
    """Leave when the parent is gone: a killed server must not leave children behind."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, name="parent watch", daemon=True).start()
