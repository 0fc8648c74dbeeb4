"""A write on its way: commands block on it, asynchronous edges await it without a thread."""

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Final, Generic, TypeVar

from memory.domain.change import Landed, Outcome
from memory.domain.errors import LedgerBusy

T = TypeVar("T")

DEADLINE_SECS: Final = 30.0
"""How long a caller waits for its landing.  Source: architecture, "The write path"."""


class Pending(Generic[T]):
    """The answer of a write once its ledger row has landed.

    Args:
        future: set by the committer to what became of the write.
        render: turns the landed write into the service's answer.
    """

    def __init__(self, future: "Future[Outcome]", render: Callable[[Landed], T]) -> None:
        self._future = future
        self._render = render

    def wait(self, *, timeout: float = DEADLINE_SECS) -> T:
        """Block until the write has landed.

        Raises:
            AmpUpError: the write was refused.
            LedgerBusy: the deadline passed; whether it lands is unknown.
        """
        try:
            return self._answer(self._future.result(timeout))
        except FutureTimeoutError:
            raise _busy() from None

    def __await__(self) -> Generator[object, None, T]:
        """Wait like `wait`, without a thread."""
        return self._awaited().__await__()

    async def _awaited(self) -> T:
        waiting = asyncio.wrap_future(self._future)
        try:
            # A caller that goes away must not cancel what others landed with: hence the shield.
            outcome = await asyncio.wait_for(asyncio.shield(waiting), DEADLINE_SECS)
        except TimeoutError:
            raise _busy() from None
        return self._answer(outcome)

    def _answer(self, outcome: Outcome) -> T:
        if isinstance(outcome, Landed):
            return self._render(outcome)
        raise outcome.error


def _busy() -> LedgerBusy:
    return LedgerBusy(
        "The write did not land in time; whether it will is unknown: send the same call again.",
        detail={"outcome": "unknown"},
    )
