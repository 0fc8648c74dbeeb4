"""Typed readers of environment variables; a bad value stops the start and names its variable."""

import os
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ampup_site.kernel.errors import AmpUpError

PREFIX: Final = "AMPUP_MEMORY_"
OLD_PREFIX: Final = "MEMSTORE_"
_YES: Final = frozenset({"1", "true", "yes", "on"})
_NO: Final = frozenset({"0", "false", "no", "off"})
_WINDOW: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")


class BadSetting(AmpUpError):
    """An environment variable holds a value that cannot be used."""

    code = "bad_setting"


@dataclass(frozen=True, slots=True)
class DailyWindow:
    """A span of every day, UTC; it crosses midnight when it ends before it starts.

    Args:
        start: minutes since midnight, in the window.
        end: minutes since midnight, the first that is no more in it.
    """

    start: int
    end: int


def text(name: str, default: str) -> str:
    """Return a variable, its old name's value with a warning, or the default.

    Args:
        name: the variable without its prefix.
        default: taken when the variable is unset or blank.
    """
    value = os.environ.get(PREFIX + name, "").strip()
    if value:
        return value
    old = os.environ.get(OLD_PREFIX + name, "").strip()
    if not old:
        return default
    message = f"{OLD_PREFIX}{name} is the old name; set {PREFIX}{name} instead."
    warnings.warn(message, FutureWarning, stacklevel=2)
    return old


def flag(name: str, *, default: bool) -> bool:
    """Return a switch: 1|true|yes|on or 0|false|no|off.

    Raises:
        BadSetting: it is none of them.
    """
    value = text(name, "").lower()
    if value in _YES:
        return True
    if value in _NO:
        return False
    if value:
        raise _bad(name, value, "be 1 or 0")
    return default


def whole(name: str, *, default: int, low: int, high: int) -> int:
    """Return a whole number from `low` to `high`, both taken.

    Raises:
        BadSetting: it is no number, or out of range.
    """
    value = text(name, str(default))
    if re.fullmatch(r"-?\d{1,18}", value, re.ASCII) and low <= int(value) <= high:
        return int(value)
    raise _bad(name, value, f"be a whole number from {low} to {high}")


def seconds(name: str, *, default: int) -> int | None:
    """Return a timer's period in seconds; None when `0` or `off` stops it.

    Raises:
        BadSetting: it is neither a number nor `off`.
    """
    value = text(name, str(default)).lower()
    if value in {"0", "off"}:
        return None
    if re.fullmatch(r"\d{1,7}", value, re.ASCII):
        return int(value)
    raise _bad(name, value, "be a number of seconds, or off")


def folder(name: str, *, default: Path) -> Path:
    """Return an absolute path; `~` is the home folder, a relative path is the start folder's."""
    value = text(name, str(default))
    return Path(value).expanduser().absolute()


def window(name: str, *, default: str) -> DailyWindow:
    """Return a window of every day.

    Raises:
        BadSetting: it is not `HH:MM-HH:MM`.
    """
    value = text(name, default)
    match = _WINDOW.fullmatch(value)
    if match is None:
        raise _bad(name, value, "be HH:MM-HH:MM in UTC, such as 02:00-04:00")
    hours = [int(group) for group in match.groups()]
    return DailyWindow(start=hours[0] * 60 + hours[1], end=hours[2] * 60 + hours[3])


def names(name: str, *, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return a comma list without blanks."""
    value = text(name, ",".join(default))
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _bad(name: str, value: str, remedy: str) -> BadSetting:
    variable = PREFIX + name
    return BadSetting(f"{variable} is {value!r}; it must {remedy}.", field=variable)
