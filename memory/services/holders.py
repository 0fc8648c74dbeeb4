"""Processes that do background work, each with a locked file: so a dead one is known at once.

The lock goes with its process, however that ends, and pids play no part. A file that is not
there proves nothing: its process may work on another machine, and its leases end by themselves.
"""

import fcntl
import logging
import os
import re
import threading
from pathlib import Path
from typing import Final

from ampup_site.kernel.ids import IdSource

logger = logging.getLogger(__name__)

FOLDER: Final = "holders"
"""Its name in the data folder."""

_PREFIX: Final = "p_"
_NAME: Final = re.compile(r"p_[0-9a-z]{26}")
_lock = threading.Lock()
_name: str | None = None


def appear(folder: Path, ids: IdSource) -> None:
    """Make this process one whose death can be told, from now on; again changes nothing.

    Where its file cannot be made it is as before: its leases have to end by themselves.
    """
    global _name
    with _lock:
        if _name is not None:
            return
        name = ids.mint(_PREFIX)
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            # Never closed: the kernel does that when the process is gone.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            logger.warning("a death of this process would not be told: %s", error.strerror)
            return
        _name = name


def this_process() -> str | None:
    """Return the name under which this process has appeared, None if it has not."""
    return _name


def is_dead(folder: Path, name: str) -> bool:
    """Tell whether it is proven that a process is gone."""
    if _NAME.fullmatch(name) is None:
        return False
    try:
        descriptor = os.open(folder / name, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def bury(folder: Path) -> None:
    """Remove the files of the dead, once nothing names them any more."""
    if folder.is_dir():
        for path in folder.iterdir():
            if is_dead(folder, path.name):
                path.unlink(missing_ok=True)
