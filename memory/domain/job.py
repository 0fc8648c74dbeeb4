"""Jobs: work that outlives a request, what is known of each run, and when nightly work is due."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import AmpUpError, ErrorKind

LEASE_TERM: Final = Micros(180_000_000)
"""A lease lives 180 s: longer than a chunk takes that is sent four times and waited for 30 s."""

MAX_ATTEMPTS: Final = 3
"""A run that died so often is not begun again: it may be what kills its worker."""

MAX_REFUSALS: Final = 1_000
"""Refused items a run lists by name; the rest are counted."""

MAX_ERROR_CHARS: Final = 500

SPOOL_AGE: Final = Micros(3_600_000_000)
"""A spool file that no open run names goes after an hour: its promise may be under way."""

_MINUTE: Final = 60_000_000
_DAY: Final = 24 * 60


class JobKind(StrEnum):
    """What a run does."""

    LOAD = "load"
    COMPACT = "compact"


class JobState(StrEnum):
    """How a run stands; `lost` is one that died too often to be begun again."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"


OPEN_STATES: Final = (JobState.QUEUED, JobState.RUNNING)


class LeaseLost(AmpUpError):
    """Another worker took the job over; this one stops and changes nothing more."""

    kind = ErrorKind.CONFLICT
    code = "lease_lost"


class PayloadGone(AmpUpError):
    """What a run shall load is not on this machine; its caller has to send it again."""

    kind = ErrorKind.UNPROCESSABLE
    code = "payload_gone"


class CallerGone(AmpUpError):
    """Whom a run acts for may no longer act; what has landed stays."""

    kind = ErrorKind.FORBIDDEN
    code = "caller_gone"


class LoadIncomplete(AmpUpError):
    """A load that had to be one commit holds an item that cannot be taken; nothing was stored."""

    kind = ErrorKind.UNPROCESSABLE
    code = "load_refused"


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """An item of a load that was left out.

    Args:
        position: where it stands: a line of the file, or a place in the batch from 1 on.
    """

    position: str
    reason: str


@dataclass(frozen=True, slots=True)
class JobView:
    """A run as its caller is shown it.

    Args:
        done: items that are stored, repeated or refused.
        commits: in the order they landed; a chunk is written once its commit stands here.
        refused: at most the first 1,000.
        error: why it failed, waits or was lost; None while all is well.
    """

    job: str
    kind: JobKind
    state: JobState
    done: int
    total: int
    commits: tuple[str, ...]
    refused: tuple[RefusedItem, ...]
    error: str | None


def plain_error(error: BaseException) -> str:
    """Return an error's text as a row can hold it: short, and without NUL or half characters.

    What is no error of ours is named by its kind alone: its text may quote what was loaded.
    """
    if isinstance(error, AmpUpError):
        return storable(error.message)
    if isinstance(error, OSError) and error.strerror:
        return storable(f"The server's disk or network failed: {error.strerror}.")
    return f"The server failed with {type(error).__name__}; its log says more."


def storable(text: str) -> str:
    """Return a text that Postgres can hold, at most `MAX_ERROR_CHARS` long."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return whole.replace("\x00", "\N{REPLACEMENT CHARACTER}")[:MAX_ERROR_CHARS]


def window_opened(now: Micros, *, start: int, end: int) -> Micros | None:
    """Return when the daily window that is open now has opened, None while it is shut.

    Args:
        start: minutes since midnight, UTC.
        end: minutes since midnight; before `start` the window crosses midnight, at `start` it
            never opens.
    """
    minute = now // _MINUTE
    since = (minute - start) % _DAY
    if since >= (end - start) % _DAY:
        return None
    return Micros((minute - since) * _MINUTE)
