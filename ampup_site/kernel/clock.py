"""Where the time comes from: the one place that reads the system's clock."""

import time
from typing import NewType, Protocol

Micros = NewType("Micros", int)
"""Microseconds since 1970-01-01T00:00:00Z; negative before it."""


class Clock(Protocol):
    """Tells the present moment; safe to share between threads."""

    def now(self) -> Micros:
        """Return the present moment, UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> Micros:
        """Return the present moment, UTC."""
        return Micros(time.time_ns() // 1000)
