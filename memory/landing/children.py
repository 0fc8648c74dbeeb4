"""Child processes for work that would hold the interpreter's lock against everybody else."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from ampup_site.kernel.interpreter import tune_interpreter
from memory.domain.errors import ChildDied

A = TypeVar("A")
B = TypeVar("B")

_PRELOADED: Final = ("memory.landing.apply", "memory.services.load_chunks")
"""What children run, imported once by the process they are forked from: it takes a second of a
core, and the next children of this process then start at once."""

_AHEAD: Final = 2
"""Pieces in work or waiting for each process: enough to keep it busy, few enough to hold."""


@contextmanager
def children(
    work: Callable[[A], B],
    *,
    begin: Callable[..., None] | None = None,
    given: tuple[Any, ...] = (),
) -> Iterator[Callable[[Iterable[A]], Iterator[B]]]:
    """Lend a map over pieces, in order, that runs in child processes some pieces ahead.

    The map raises ChildDied if one of them is killed.

    Args:
        work: importable by name; it and what it takes and gives are pickled.
        begin: called once in each process, with what is `given`.
    """
    count = os.cpu_count() or 1
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_PRELOADED))
    pool = ProcessPoolExecutor(
        count,
        mp_context=context,
        initializer=_begin,
        initargs=(begin, given),
    )

    def run(pieces: Iterable[A]) -> Iterator[B]:
        running: deque[Future[B]] = deque()
        try:
            for piece in pieces:
                running.append(pool.submit(work, piece))
                if len(running) >= count * _AHEAD:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        except BrokenProcessPool as error:
            message = "A process that did a part of the work was killed; start the work again."
            raise ChildDied(message) from error

    try:
        yield run
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(begin: Callable[..., None] | None, given: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is its parent's to answer
    tune_interpreter()
    threading.Thread(target=_end_with_parent, name="parent watch", daemon=True).start()
    if begin is not None:
        begin(*given)


def _end_with_parent() -> None:
    """Leave when the parent is gone: a killed server must not leave children behind."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
