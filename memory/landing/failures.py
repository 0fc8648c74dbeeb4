"""What a failed landing is the fault of, and how its callers are told."""

import logging
from enum import Enum
from typing import Final

import psycopg

from ampup_site.kernel.errors import AmpUpError
from memory.domain.change import Refused
from memory.domain.errors import (
    CatalogBehind,
    CommitUnknown,
    IndexBehind,
    LandingFailed,
    LedgerConflict,
    RefusedRow,
    StorageUnavailable,
)

logger = logging.getLogger(__name__)

_STORES: Final = frozenset({"53100", "58030", "25006"})
"""SQL states of a full disk, a failing one, and a database that only reads."""

_ENDED: Final = frozenset({"25P03", "25P04"})
"""SQL states of a transaction ended for taking too long; psycopg has them as internal errors."""

_LIMITS: Final = "54"
"""Class of rows beyond a limit, like a text too long to keep; psycopg has it as operational."""

_MALFORMED: Final = "08P01"
"""SQL state of a value whose binary form is none; psycopg has it as operational."""


class Fault(Enum):
    """Whose fault it is: a passing trouble's, the stores', or the rows' themselves."""

    PASSING = "passing"
    STORES = "stores"
    ROWS = "rows"


def fault_of(error: Exception) -> Fault:
    """Tell what a landing failed of: it decides between trying again, refusing all, halving."""
    if isinstance(error, OSError | CommitUnknown | CatalogBehind):
        return Fault.STORES
    if isinstance(error, LedgerConflict | IndexBehind | psycopg.InterfaceError):
        return Fault.PASSING
    if not isinstance(error, psycopg.Error):
        return Fault.ROWS
    state = error.sqlstate or ""
    if state in _STORES:
        return Fault.STORES
    if state.startswith((_LIMITS, _MALFORMED)):
        return Fault.ROWS
    operational = isinstance(error, psycopg.OperationalError)
    return Fault.PASSING if operational or state in _ENDED else Fault.ROWS


def refusal(error: Exception) -> Refused:
    """Return what the callers of a landing are told that is not tried again."""
    if isinstance(error, AmpUpError):
        return Refused(error)
    if fault_of(error) is Fault.STORES:
        logger.warning("a landing could not write to its stores: %s", error)
        return Refused(storage_unavailable(error))
    logger.error("a write was refused alone", exc_info=error)
    state = getattr(error, "sqlstate", None) or ""
    if isinstance(error, psycopg.DataError) or state.startswith((_LIMITS, _MALFORMED)):
        message = "The store cannot hold a value of this write; nothing of it was stored."
        return Refused(RefusedRow(message))
    return Refused(LandingFailed("This write could not be stored; nothing of it was written."))


def storage_unavailable(error: Exception) -> StorageUnavailable:
    """Say why the stores take nothing, without their paths."""
    if isinstance(error, OSError):
        reason = f"The warehouse cannot be written ({error.strerror or type(error).__name__})"
    else:
        reason = f"The database cannot be written ({type(error).__name__})"
    return StorageUnavailable(
        f"{reason}; nothing was stored, send it again once the operator has made room."
    )
