"""Times for people's eyes: microseconds to RFC 3339, to the second."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def readable_times(row: Mapping[str, object]) -> dict[str, object]:
    """Return the row with every value whose name ends in `_at` written out, UTC."""
    return {
        name: _readable(value) if name.endswith("_at") and isinstance(value, int) else value
        for name, value in row.items()
    }


def _readable(micros: int) -> str:
    moment = _EPOCH + timedelta(microseconds=micros)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
