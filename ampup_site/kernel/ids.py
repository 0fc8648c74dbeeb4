"""Minted ids: a prefix and a ULID in lower-case Crockford base32, sortable by time."""

import secrets
import threading
from typing import Protocol

from ampup_site.kernel.clock import Clock

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_RANDOM_BITS = 80

COMMIT = "c_"
BATCH = "b_"
JOB = "job_"
REQUEST = "req_"


class IdSource(Protocol):
    """Mints ids that never repeat; safe to share between threads."""

    def mint(self, prefix: str) -> str:
        """Return `prefix` and 26 characters that sort after every earlier id of this source."""
        ...


class UlidSource:
    """ULIDs, strictly rising inside a process even within one millisecond."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last = 0

    def mint(self, prefix: str) -> str:
        """Return `prefix` and 26 characters: 48 bits of milliseconds, 80 random bits."""
        fresh = (self._clock.now() // 1000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
        with self._lock:
            self._last = fresh if fresh > self._last else self._last + 1
            number = self._last
        return prefix + encode_base32(number)


def encode_base32(number: int) -> str:
    """Return 26 characters of Crockford base32 for a number below 2**130."""
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))
