"""Writes that wait for the committer: in order within a scope, taken round robin over scopes."""

import threading
from collections import OrderedDict, deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from time import monotonic

from memory.domain.change import Outcome, Write
from memory.domain.errors import StorageUnavailable


@dataclass(slots=True)
class Waiting:
    """A write and the future its caller waits on.

    Args:
        deadline: on the monotonic clock; past it the caller has gone with "outcome unknown".
    """

    write: Write
    deadline: float
    future: "Future[Outcome]" = field(default_factory=Future)

    def answer(self, outcome: Outcome) -> None:
        """Tell the caller, if it still waits."""
        if self.future.set_running_or_notify_cancel():
            self.future.set_result(outcome)


class WriteQueue:
    """A fair queue; many threads put, one takes."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._scopes: OrderedDict[str, deque[Waiting]] = OrderedDict()
        self._length = 0
        self._closed = False

    def put(self, waiting: Waiting) -> None:
        """Add a write at the end of its scope's line.

        Raises:
            StorageUnavailable: the queue is closed: the server stops, or its committer died.
        """
        with self._condition:
            if self._closed:
                message = "The server is stopping and takes no more writes; send it again."
                raise StorageUnavailable(message)
            self._scopes.setdefault(waiting.write.namespace, deque()).append(waiting)
            self._length += 1
            self._condition.notify()

    def wait(self, timeout: float | None = None) -> bool:
        """Block until something waits or the queue is closed; say whether something waits."""
        with self._condition:
            self._condition.wait_for(lambda: self._length or self._closed, timeout)
            return self._length > 0

    def linger(self, seconds: float, *, rows: int) -> None:
        """Let more writes come for a moment, if more than one waits already."""
        end = monotonic() + seconds
        with self._condition:
            before = self._length
            if before < 2:
                return
            while (left := end - monotonic()) > 0 and self._length < rows:
                self._condition.wait(left)

    def take(self, *, rows: int, size: int) -> list[Waiting]:
        """Take the writes of one landing: at least one, else up to so many rows and bytes.

        Each scope gives one write a round, so that a long line in one does not hold up another.
        """
        batch: list[Waiting] = []
        with self._condition:
            while self._scopes and rows > 0 and size > 0:
                for namespace in list(self._scopes):
                    line = self._scopes[namespace]
                    write = line[0].write
                    if batch and (write.rows > rows or write.bytes > size):
                        rows = 0
                        break
                    batch.append(line.popleft())
                    self._length -= 1
                    rows -= write.rows
                    size -= write.bytes
                    # Who was served stands last, so that a full batch begins where this ended.
                    self._scopes.move_to_end(namespace)
                    if not line:
                        del self._scopes[namespace]
                    if rows <= 0 or size <= 0:
                        break
        return batch

    def close(self) -> list[Waiting]:
        """Refuse further writes and return those that still wait."""
        with self._condition:
            self._closed = True
            left = [waiting for line in self._scopes.values() for waiting in line]
            self._scopes.clear()
            self._length = 0
            self._condition.notify_all()
        return left

    def __len__(self) -> int:
        """Return how many writes wait."""
        with self._condition:
            return self._length
