"""Which version of the server this is."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final

_DISTRIBUTION: Final = "ampup-memory-server"


@cache
def server_version() -> str:
    """Return the installed version, `0` where the server runs without being installed."""
    try:
        return version(_DISTRIBUTION)
    except PackageNotFoundError:
        return "0"
