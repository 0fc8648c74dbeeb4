"""Finds the time that a question names: "in March 2026", "since Monday", "over the last two weeks".

A window is decided by grammar: a date counts where a preposition of time leads it, and words like
"yesterday" or "two days ago" by themselves; so "the May release", "the 2024 budget" and "by Friday"
name none. English alone: other languages' questions go by their words.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from ampup_site.kernel.clock import Micros
from memory.domain.calendar_spans import FIRST_DAY, LAST_DAY, Span, SpanReader
from memory.domain.times import FIRST, LAST, micros

_READ_CHARS: Final = 2_000
"""A longer text is a document; what it names further on is no question's time."""

_QUOTED: Final = re.compile(r"\"[^\"]*\"|\u201c[^\u201d]*\u201d|\u00ab[^\u00bb]*\u00bb|`[^`]*`")
_POINT: Final = SpanReader.POINT
_LEAD: Final = r"(?:back\s+in|in|on|during|around|throughout|within|over)"

_BETWEEN: Final = re.compile(
    rf"\bbetween\s+(?P<first>{_POINT})\s+and\s+(?P<last>{_POINT})", re.IGNORECASE
)
_FROM: Final = re.compile(
    rf"\bfrom\s+(?P<first>{_POINT})\s+(?:to|until|till|through)\s+(?P<last>{_POINT})",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(
    rf"(?<!\bday )\b(?P<how>since|after|before|prior\s+to)\s+(?P<point>{_POINT})", re.IGNORECASE
)
_LED: Final = re.compile(rf"\b{_LEAD}\s+(?P<point>{_POINT})", re.IGNORECASE)
_ALONE: Final = re.compile(rf"\b(?P<point>{SpanReader.ADVERB})", re.IGNORECASE)
_WHOLE: Final = re.compile(
    rf"(?:^|\s)(?P<point>{SpanReader.WITH_YEAR})\s*[?.!]*\s*\Z", re.IGNORECASE
)
"""A date with its year needs no preposition where a question ends with it."""


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time that a question names: from `start` on, before `end`.

    Args:
        start, end: microseconds since the epoch; an open one is the first or last there is.
        phrase: the words that name it.
    """

    start: Micros
    end: Micros
    phrase: str


def named_window(text: str, *, now: datetime, zone: ZoneInfo) -> Window | None:
    """Return the window that a question names, None if it names none.

    Of several a range is taken before an open end, and that before a point.

    Args:
        now: aware; "yesterday" is the day before it in `zone`.
        zone: where the one who asks lives: days begin and end there.
    """
    shown = _QUOTED.sub(" . ", text[:_READ_CHARS]).rstrip()
    # What stands at a cut may have gone on: "in March" of "in March 2020".
    whole = len(shown) if len(text) <= _READ_CHARS else len(shown) - 1
    try:
        reader = SpanReader(now.astimezone(zone).date())
    except OverflowError:
        return None
    for form, read in _FORMS:
        for found in form.finditer(shown):
            span = read(found, reader) if found.end() <= whole else None
            if span is None:
                continue
            start, end = _moment(span.first, zone), _moment(span.end, zone)
            # A zone may have left a whole day out.
            if start < end:
                return Window(start, end, found.group().strip())
    return None


def _range(found: re.Match[str], reader: SpanReader) -> Span | None:
    first, last = reader.read(found["first"]), reader.read(found["last"])
    if first is None or last is None:
        return None
    if first.end > last.end and not re.search(r"\d{4}", found["first"]):
        # "between November and March": the first is of the year before.
        first = Span(_year_before(first.first), first.end)
    return Span(first.first, last.end)


def _open(found: re.Match[str], reader: SpanReader) -> Span | None:
    span = reader.read(found["point"])
    if span is None:
        return None
    how = found["how"].lower()
    if how == "since":
        return Span(span.first, LAST_DAY)
    return Span(span.end, LAST_DAY) if how == "after" else Span(FIRST_DAY, span.first)


def _point(found: re.Match[str], reader: SpanReader) -> Span | None:
    # In the middle of a sentence a capital makes a name of it, like a newspaper's.
    if found.re is _ALONE and found.start() and found["point"][0].isupper():
        return None
    return reader.read(found["point"])


_FORMS: Final[tuple[tuple[re.Pattern[str], Callable[..., Span | None]], ...]] = (
    (_BETWEEN, _range),
    (_FROM, _range),
    (_OPEN, _open),
    (_LED, _point),
    (_ALONE, _point),
    (_WHOLE, _point),
)


def _year_before(day: date) -> date:
    return day - timedelta(days=365)


def _moment(day: date, zone: ZoneInfo) -> Micros:
    """Return the beginning of a day in a zone; of an open end the first or last moment there is."""
    if day in {FIRST_DAY, LAST_DAY}:
        return FIRST if day == FIRST_DAY else LAST
    return micros(datetime.combine(day, time(), zone))
