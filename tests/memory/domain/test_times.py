"""The one parser of times."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import BadRequest
from memory.domain.times import EPOCH, FIRST, LAST, format_day, format_micros, micros, parse_time


def test_micros_are_whole_and_exact() -> None:
    """Documented: the vector of section 1; a naive datetime is a ValueError."""
    moment = datetime(2026, 3, 31, 14, 22, 10, 123456, UTC)
    assert micros(moment) == 1774966930123456
    with pytest.raises(ValueError, match="time zone"):
        micros(moment.replace(tzinfo=None))


@given(st.integers(FIRST, LAST))
def test_what_is_written_is_read_again(moment: int) -> None:
    """Ours: integers and RFC 3339 name the same moments, before 1970 too (case 32)."""
    assert parse_time(format_micros(moment), field="at") == parse_time(moment, field="at") == moment


@given(st.integers(FIRST + 10**12, LAST - 10**12), st.integers(-1439, 1439))
def test_an_offset_names_an_instant_and_nothing_else(moment: int, minutes: int) -> None:
    """Regression: case 37, offsets compared as text."""
    zone = timezone(timedelta(minutes=minutes))
    shown = (EPOCH + timedelta(microseconds=moment)).astimezone(zone).isoformat()
    assert parse_time(shown, field="at") == moment


def test_digits_below_a_microsecond_are_cut_off() -> None:
    """Documented: times are whole microseconds; ours: cut, never rounded into the next day."""
    assert format_micros(parse_time("1969-12-31T23:59:59.9999999z", field="at")) == (
        "1969-12-31T23:59:59.999999Z"
    )
    assert parse_time("1970-01-01 00:00:00.5+00:00", field="at") == 500_000
    assert format_day(Micros(-1)) == "1969-12-31"


@pytest.mark.parametrize(
    "value",
    [
        *(
            "20260726",
            "2026-W30-7",
            "2026-07",
            "2026-07-26T10",
            "2026-07-26",
            "2026-01-01T12:00:00",
        ),
        *("9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+05:00", "10000-01-01T00:00:00Z"),
        *("0000-01-01T00:00:00Z", "infinity", "-infinity", "now", "yesterday", "", " 1"),
        *("2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00+24:00"),
        *("2026-01-01T00:00:00Z\n", "\u0662026-01-01T00:00:00Z", "1774966930123456"),
        "2026-01-01T00:00:00." + "9" * 10_000 + "Z",
        *(10**18, -(10**18), 2**70, 1.5, float("inf"), True, None, []),
    ],
)
def test_what_is_no_moment_of_ours_is_refused_with_what_would_do(value: object) -> None:
    """Regression: cases 35, 39 and 40: one refusal everywhere, never a guess."""
    with pytest.raises(BadRequest) as refused:
        parse_time(value, field="occurred_at")
    assert refused.value.field == "occurred_at"
    assert "0001-01-01" in refused.value.message or "RFC 3339" in refused.value.message
