"""Reads and writes moments: the one parser of times for every surface."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import BadRequest

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def micros(moment: datetime) -> Micros:
    """Return a moment in whole microseconds since the epoch, without any float between.

    Raises:
        ValueError: it has no time zone.

    Source: specification, section 1.
    """
    if moment.utcoffset() is None:
        message = "a datetime without a time zone is no moment"
        raise ValueError(message)
    return Micros((moment - EPOCH) // _MICROSECOND)


FIRST: Final = micros(datetime.min.replace(tzinfo=UTC))
"""0001-01-01T00:00:00Z."""

LAST: Final = micros(datetime.max.replace(tzinfo=UTC))
"""9999-12-31T23:59:59.999999Z."""

_RANGE: Final = "from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999Z"
_FORMS: Final = (
    "microseconds since 1970 as an integer, or an RFC 3339 time with its offset, like "
    "2026-03-31T14:22:10Z"
)
_RFC_3339: Final = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]"
    r"(?P<clock>[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.(?P<fraction>[0-9]{1,40}))?"
    r"(?P<offset>[Zz]|[+-][0-9]{2}:[0-9]{2})\Z"
)
_LONGEST: Final = 80


def parse_time(value: object, *, field: str) -> Micros:
    """Return a moment given as microseconds or as RFC 3339; digits below them are cut off.

    Raises:
        BadRequest: it is neither, has no offset, or lies outside the years 1 to 9999 in UTC.

    Source: specification, section 1.
    """
    if isinstance(value, bool) or not isinstance(value, int | str):
        message = f"`{field}` must be {_FORMS}."
        raise BadRequest(message, field=field)
    moment = value if isinstance(value, int) else _parse_text(value, field=field)
    if not FIRST <= moment <= LAST:
        message = f"`{field}` must lie {_RANGE}."
        raise BadRequest(message, field=field)
    return Micros(moment)


def format_micros(moment: int) -> str:
    """Return a moment as RFC 3339 in UTC, with a fraction only where there is one.

    Raises:
        ValueError: it lies outside the years 1 to 9999.
    """
    if not FIRST <= moment <= LAST:
        message = f"a moment must lie {_RANGE}"
        raise ValueError(message)
    shown = EPOCH + timedelta(microseconds=moment)
    return shown.isoformat().replace("+00:00", "Z")


def format_day(moment: int) -> str:
    """Return the UTC day of a moment, like 2026-03-31."""
    return format_micros(moment)[:10]


def _parse_text(text: str, *, field: str) -> int:
    match = _RFC_3339.match(text) if len(text) <= _LONGEST else None
    if match is None:
        message = f"`{field}` must be {_FORMS}."
        raise BadRequest(message, field=field)
    try:
        day = datetime.fromisoformat(f"{match['day']}T{match['clock']}+00:00")
        offset = _offset(match["offset"])
    except ValueError:
        message = f"`{field}` names no day or hour that exists {_RANGE}."
        raise BadRequest(message, field=field) from None
    # Integers, not datetimes: the offset may lead past the first or the last year.
    fraction = int((match["fraction"] or "0")[:6].ljust(6, "0"))
    return micros(day) + fraction - offset


def _offset(text: str) -> int:
    if text in {"Z", "z"}:
        return 0
    hours, minutes = int(text[1:3]), int(text[4:6])
    if hours > 23 or minutes > 59:
        message = "an offset is below 24 hours"
        raise ValueError(message)
    size = (hours * 60 + minutes) * 60_000_000
    return -size if text[0] == "-" else size
