"""The process's embedder behind a deadline: whatever it does costs meaning and nothing else."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from time import monotonic
from typing import Final

import numpy as np
import numpy.typing as npt

from memory.domain.scripts import NO_LETTERS, script_of
from memory.embedding.embedder import Embedder, EmbedderFailed, Pieces

logger = logging.getLogger(__name__)

_QUERY_SECS: Final = 2.0
"""A query waits so long for its vector; then it is answered by keyword."""

_QUERY_CHARS: Final = 1_000
"""Of a query, so much is embedded: a question's meaning is in its first words, and nobody's long
one may take the time that others wait."""

_AT_ONCE: Final = 2
"""Threads that embed queries: one runs while another still hangs."""

_WAITING: Final = 64
"""Queries that may wait for a thread; with more the embedder hangs, and none waits for it."""

_REST_SECS: Final = 10.0
"""After a failure nobody asks for so long, and nobody is told twice."""

QueryVector = npt.NDArray[np.float32]


class Meaning:
    """Asks an embedder for queries and passages.

    Queries have threads of their own and are answered while passages are embedded. Texts in a
    script that the embedder does not read have no vector.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="embed")
        self._places = threading.Semaphore(_WAITING)
        self._rests_until = 0.0

    @contextmanager
    def query(self, text: str) -> Iterator[Callable[[], QueryVector | None]]:
        """Begin to embed a query; yields a function that waits for its vector, or for None.

        It is None where the embedder fails, takes too long or does not read the query's script.
        """
        future = self._begin(text) if self.reads(text) else None
        end = monotonic() + _QUERY_SECS

        def vector() -> QueryVector | None:
            return None if future is None else self._wait(future, max(0.0, end - monotonic()))

        try:
            yield vector
        finally:
            if future is not None:
                future.cancel()

    def passages(self, texts: Sequence[str]) -> list[Pieces]:
        """Return the vectors of passages, in order; one in another script has no pieces.

        Raises:
            EmbedderFailed: there are none.
        """
        nothing = np.empty((0, self.embedder.width), np.float32)
        read = [number for number, text in enumerate(texts) if self.reads(text)]
        found = [nothing] * len(texts)
        if read:
            answered = self.embedder.embed([texts[number] for number in read])
            for number, pieces in zip(read, answered, strict=True):
                found[number] = _checked(pieces, self.embedder.width)
        return found

    def reads(self, text: str) -> bool:
        """Tell whether the embedder reads a text's script; a text without letters it does not."""
        script = script_of(text)
        scripts = self.embedder.scripts
        return script != NO_LETTERS and (scripts is None or script in scripts)

    def close(self) -> None:
        """Take no more; what hangs is left behind."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _begin(self, text: str) -> Future[QueryVector] | None:
        if monotonic() < self._rests_until or not self._places.acquire(blocking=False):
            return None
        try:
            future = self._threads.submit(self._embed, text)
        except RuntimeError:
            self._places.release()
            return None
        future.add_done_callback(lambda _: self._places.release())
        return future

    def _embed(self, text: str) -> QueryVector:
        [pieces] = self.embedder.embed([text[:_QUERY_CHARS]])
        checked = _checked(pieces, self.embedder.width)
        mean: QueryVector = checked.mean(axis=0)
        return mean / np.float32(np.linalg.norm(mean))

    def _wait(self, future: Future[QueryVector], secs: float) -> QueryVector | None:
        try:
            return future.result(secs)
        except FutureTimeout:
            self._rest("The embedder takes too long.")
        except EmbedderFailed as error:
            self._rest(error.message)
        except Exception as error:  # noqa: BLE001 -- whatever an embedder raises costs meaning alone
            self._rest(f"The embedder failed ({type(error).__name__}).")
        return None

    def _rest(self, why: str) -> None:
        if monotonic() >= self._rests_until:
            logger.warning("%s For %d s queries are answered by keyword", why, _REST_SECS)
            self._rests_until = monotonic() + _REST_SECS


def _checked(pieces: Pieces, width: int) -> Pieces:
    """Return the vectors, if they are some.

    Raises:
        EmbedderFailed: they are none of this width, or no numbers.
    """
    if pieces.ndim != 2 or pieces.shape[1] != width or not len(pieces):
        message = f"The embedder answered {pieces.shape} where vectors of {width} are expected."
        raise EmbedderFailed(message)
    if not np.isfinite(pieces).all():
        message = "The embedder answered what is no number."
        raise EmbedderFailed(message)
    return pieces
