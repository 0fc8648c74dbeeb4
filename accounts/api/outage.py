"""What is no fault of ours but a server without its database or its disk, for every edge."""

import errno
from typing import Final

import psycopg
from django.db import InterfaceError, OperationalError

from ampup_site.kernel.errors import Unavailable

DATABASE_DOWN: Final = (OperationalError, InterfaceError, psycopg.OperationalError)
_DISK_FAILS: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO}
)


def outage_of(error: BaseException) -> Unavailable | None:
    """Return an exception as the outage it means, without its inside; None if it is none."""
    if isinstance(error, DATABASE_DOWN):
        return Unavailable("The database cannot be reached now; send the same call again.")
    if isinstance(error, OSError) and error.errno in _DISK_FAILS:
        return Unavailable("The warehouse cannot be written now; send the same call again.")
    return None
