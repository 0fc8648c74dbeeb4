"""Reads what names a day, a week, a month, a quarter or a year, as days of the calendar."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar, Final

FIRST_DAY: Final = date.min
LAST_DAY: Final = date.max
"""What is left open ends here."""

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_SHORT: Final = tuple(month[:3] for month in _MONTHS)
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_COUNTS: Final = {
    word: number
    for number, word in enumerate(
        (
            *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
            *("eleven", "twelve"),
        ),
        1,
    )
} | {"a": 1, "an": 1, "a couple of": 2, "couple of": 2, "a few": 3, "few": 3, "several": 3}
_ORDINALS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4}

_YEAR: Final = r"(?:19|20)\d\d"
_END: Final = r"(?![\w-]|['\u2019](?!s\b)|\.\w|:\d|/\d)"
_AFTER: Final = (
    r"and or but did do does was were is are has have had will would can could should with about by"
    r" for to from when who whom what which where why how at on in of that than as if we you they i"
)
_STANDS: Final = rf"{_END}(?=['\u2019]s|\s*(?:[^\w\s]|$)|\s+(?:{_AFTER.replace(' ', '|')})\b)"
"""What follows a month, quarter or year that stands for itself: before a noun it is an adjective,
and `2000 customers` are no year."""

_MONTH: Final = rf"(?:{'|'.join(_MONTHS)}|(?:{'|'.join(_SHORT)}|sept)\b\.?)"
_DAY: Final = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_UNIT: Final = r"(?:day|week|month|quarter|year)"
_COUNT: Final = rf"(?:\d{{1,3}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
_WEEKDAY: Final = rf"(?:{'|'.join(_DAYS)})"


@dataclass(frozen=True, slots=True)
class Span:
    """Days from `first` on, before `end`."""

    first: date
    end: date


class SpanReader:
    """Reads phrases as of a day.

    A month, quarter or day without its year is the newest one that has begun.
    """

    ADVERB: ClassVar = (
        rf"(?:(?:the\s+day\s+before\s+yesterday|yesterday|today|tonight){_END}"
        rf"|(?:this|last|past|previous)\s+(?:week(?:end)?|month|quarter|year){_END}"
        rf"|last\s+{_WEEKDAY}{_END}"
        rf"|(?:the\s+)?(?:last|past|previous)\s+{_COUNT}\s+{_UNIT}s?{_END}"
        rf"|{_COUNT}\s+{_UNIT}s?\s+ago{_END})"
    )
    WITH_YEAR: ClassVar = (
        rf"(?:{_YEAR}-\d\d-\d\d{_END}|{_YEAR}-(?:0[1-9]|1[0-2]){_END}"
        rf"|(?:the\s+week\s+of\s+)?(?:the\s+)?{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}{_END}"
        rf"|(?:the\s+week\s+of\s+)?{_MONTH}\s+{_DAY},?\s+{_YEAR}{_END}"
        rf"|(?:(?:early|mid|late)[\s-]+)?{_MONTH},?\s+{_YEAR}{_END}"
        rf"|(?:the\s+)?(?:first|second|third|fourth)\s+quarter\s+of\s+{_YEAR}{_END}"
        rf"|(?:[Qq][1-4]|[Hh][12])\s+(?:of\s+)?{_YEAR}{_END})"
    )
    POINT: ClassVar = (
        rf"(?:{WITH_YEAR}"
        rf"|(?:the\s+week\s+of\s+)?(?:the\s+)?{_DAY}\s+(?:of\s+)?{_MONTH}{_END}(?!,?\s+\d)"
        rf"|(?:the\s+week\s+of\s+)?{_MONTH}\s+{_DAY}{_END}(?!,?\s+\d)"
        rf"|(?:(?:early|mid|late)[\s-]+)?{_MONTH}{_STANDS}(?!,?\s+\d)"
        rf"|(?:the\s+)?(?:first|second|third|fourth)\s+quarter{_STANDS}|[Qq][1-4]{_STANDS}"
        rf"|{ADVERB}|{_WEEKDAY}{_END}|(?:the\s+year\s+)?{_YEAR}{_STANDS})"
    )

    def __init__(self, today: date) -> None:
        self._today = today

    def read(self, phrase: str) -> Span | None:
        """Return the days that a phrase of `POINT` or `ADVERB` names; None if there are none."""
        words = re.sub(r"\s+", " ", phrase.strip().lower())
        for form, read in _READERS:
            found = form.fullmatch(words)
            if found is not None:
                try:
                    return read(self, found)
                except (ValueError, OverflowError):
                    return None
        return None

    def _iso(self, found: re.Match[str]) -> Span:
        return _days(date.fromisoformat(found.group()), 1)

    def _iso_month(self, found: re.Match[str]) -> Span:
        return _months(int(found[1]), int(found[2]), 1)

    def _date(self, found: re.Match[str]) -> Span:
        month, day = _month(found["month"]), int(re.sub(r"\D", "", found["day"]))
        if found["year"]:
            return _days(date(int(found["year"]), month, day), 1)
        # Four years back for the 29th of February, eight around 1900 and 2100.
        newest = range(self._today.year, self._today.year - 9, -1)
        held = (date(year, month, day) for year in newest if day <= monthrange(year, month)[1])
        first = next((one for one in held if one <= self._today), None)
        if first is None:
            raise ValueError(found.group())
        return _days(first, 1)

    def _week_of(self, found: re.Match[str]) -> Span:
        first = self._date(found).first
        return _days(first - timedelta(days=first.weekday()), 7)

    def _month(self, found: re.Match[str]) -> Span:
        month = _month(found["month"])
        year = (
            int(found["year"]) if found["year"] else self._today.year - (month > self._today.month)
        )
        span = _months(year, month, 1)
        if not found["part"]:
            return span
        third = {"early": 0, "mid": 10, "late": 20}[found["part"]]
        first = span.first + timedelta(days=third)
        return Span(first, span.end if third == 20 else first + timedelta(days=10))

    def _quarter(self, found: re.Match[str]) -> Span:
        number = _ORDINALS.get(found["number"]) or int(found["number"][-1])
        first = 3 * number - 2
        year = (
            int(found["year"]) if found["year"] else self._today.year - (first > self._today.month)
        )
        return _months(year, first, 3)

    def _half(self, found: re.Match[str]) -> Span:
        return _months(int(found[2]), 6 * int(found[1]) - 5, 6)

    def _year(self, found: re.Match[str]) -> Span:
        return _months(int(found[1]), 1, 12)

    def _day_word(self, found: re.Match[str]) -> Span:
        back = {"today": 0, "tonight": 0, "yesterday": 1}.get(found.group(), 2)
        return _days(self._today - timedelta(days=back), 1)

    def _this(self, found: re.Match[str]) -> Span:
        back = 0 if found[1] == "this" else 1
        today = self._today
        if found[2].startswith("week"):
            monday = today - timedelta(days=today.weekday() + 7 * back)
            return (
                _days(monday + timedelta(days=5), 2) if found[2] == "weekend" else _days(monday, 7)
            )
        size = {"month": 1, "quarter": 3, "year": 12}[found[2]]
        begun = (today.month - 1) // size * size
        return _months(today.year, begun + 1 - size * back, size)

    def _weekday(self, found: re.Match[str]) -> Span:
        back = (self._today.weekday() - _DAYS.index(found["day"])) % 7
        return _days(self._today - timedelta(days=back or 7 * bool(found["last"])), 1)

    def _last_some(self, found: re.Match[str]) -> Span:
        return Span(self._before(_count(found), found["unit"]), self._today + timedelta(days=1))

    def _past(self, found: re.Match[str]) -> Span:
        return Span(self._before(1, found["unit"]), self._today + timedelta(days=1))

    def _ago(self, found: re.Match[str]) -> Span:
        unit = found["unit"]
        first = self._before(_count(found), unit)
        if unit == "day":
            return _days(first, 1)
        if unit == "week":
            return _days(first - timedelta(days=first.weekday()), 7)
        size = {"month": 1, "quarter": 3, "year": 12}[unit]
        return _months(first.year, (first.month - 1) // size * size + 1, size)

    def _before(self, count: int, unit: str) -> date:
        """Return the day so many units before today."""
        if unit in {"day", "week"}:
            return self._today - timedelta(days=count * (7 if unit == "week" else 1))
        months = count * {"month": 1, "quarter": 3, "year": 12}[unit]
        first = _months(self._today.year, self._today.month - months, 1).first
        return first.replace(day=min(self._today.day, monthrange(first.year, first.month)[1]))


def _count(found: re.Match[str]) -> int:
    return _COUNTS.get(found["count"]) or int(found["count"])


def _days(first: date, count: int) -> Span:
    return Span(first, first + timedelta(days=count))


def _months(year: int, month: int, count: int) -> Span:
    """Return whole months; `month` may lie before January or after December."""
    return Span(*(date(year + (m - 1) // 12, (m - 1) % 12 + 1, 1) for m in (month, month + count)))


def _month(name: str) -> int:
    return _SHORT.index(name[:3]) + 1


_NAMED_MONTH: Final = rf"(?P<month>{_MONTH})"
_NAMED_YEAR: Final = rf"(?:,? (?P<year>{_YEAR}))?"
_DATE: Final = rf"(?:the )?(?P<day>{_DAY}) (?:of )?{_NAMED_MONTH}{_NAMED_YEAR}"
_READERS: Final = tuple(
    (re.compile(form), read)
    for form, read in (
        (rf"{_YEAR}-\d\d-\d\d", SpanReader._iso),
        (rf"({_YEAR})-(\d\d)", SpanReader._iso_month),
        (_DATE, SpanReader._date),
        (rf"{_NAMED_MONTH} (?P<day>{_DAY}){_NAMED_YEAR}", SpanReader._date),
        (rf"the week of {_DATE}", SpanReader._week_of),
        (rf"the week of {_NAMED_MONTH} (?P<day>{_DAY}){_NAMED_YEAR}", SpanReader._week_of),
        (r"(?:the )?past (?P<unit>week|month|quarter|year)", SpanReader._past),
        (rf"(?:(?P<part>early|mid|late)[ -])?{_NAMED_MONTH}{_NAMED_YEAR}", SpanReader._month),
        (
            rf"(?:the )?(?P<number>first|second|third|fourth) quarter(?: of (?P<year>{_YEAR}))?",
            SpanReader._quarter,
        ),
        (rf"(?P<number>q[1-4])(?: (?:of )?(?P<year>{_YEAR}))?", SpanReader._quarter),
        (rf"h([12]) (?:of )?({_YEAR})", SpanReader._half),
        (rf"(?:the year )?({_YEAR})", SpanReader._year),
        (r"today|tonight|yesterday|the day before yesterday", SpanReader._day_word),
        (r"(this|last|past|previous) (weekend|week|month|quarter|year)", SpanReader._this),
        (rf"(?P<last>last )?(?P<day>{_WEEKDAY})", SpanReader._weekday),
        (
            rf"(?:the )?(?:last|past|previous) (?P<count>{_COUNT}) (?P<unit>{_UNIT})s?",
            SpanReader._last_some,
        ),
        (rf"(?P<count>{_COUNT}) (?P<unit>{_UNIT})s? ago", SpanReader._ago),
    )
)
