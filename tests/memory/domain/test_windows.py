"""The time that a question names."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.times import EPOCH
from memory.domain.windows import named_window

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 12, 1, 10, tzinfo=BERLIN)
OPEN = "9999-12-31"
LONG_AGO = "0001-01-01"


def _days(text: str, *, now: datetime = NOW, zone: ZoneInfo = BERLIN) -> tuple[str, str] | None:
    window = named_window(text, now=now, zone=zone)
    if window is None:
        return None
    begin, end = (EPOCH + timedelta(microseconds=at) for at in (window.start, window.end))
    shown = [
        (at if at.year in {1, 9999} else at.astimezone(zone)).date().isoformat()
        for at in (begin, end)
    ]
    return shown[0], shown[1]


@pytest.mark.parametrize(
    ("question", "first", "end"),
    [
        ("What did we decide on 2026-03-14?", "2026-03-14", "2026-03-15"),
        ("who spoke in 2026-03", "2026-03-01", "2026-04-01"),
        ("What happened in 2025?", "2025-01-01", "2026-01-01"),
        ("during the year 2024", "2024-01-01", "2025-01-01"),
        ("on 14 March 2026", "2026-03-14", "2026-03-15"),
        ("on the 14th of March, 2026", "2026-03-14", "2026-03-15"),
        ("on March 14th, 2026", "2026-03-14", "2026-03-15"),
        ("on Sept. 3, 2026", "2026-09-03", "2026-09-04"),
        ("on 14 March", "2026-03-14", "2026-03-15"),
        ("on 24 December", "2025-12-24", "2025-12-25"),
        ("back in March 2026", "2026-03-01", "2026-04-01"),
        ("in October, 2025", "2025-10-01", "2025-11-01"),
        ("IN AUGUST", "2026-08-01", "2026-09-01"),
        ("in December", "2026-12-01", "2027-01-01"),
        ("in early March 2026", "2026-03-01", "2026-03-11"),
        ("in mid-March 2026", "2026-03-11", "2026-03-21"),
        ("in late February 2024", "2024-02-21", "2024-03-01"),
        ("in Q3", "2026-07-01", "2026-10-01"),
        ("in Q4 2025", "2025-10-01", "2026-01-01"),
        ("in the third quarter of 2025", "2025-07-01", "2025-10-01"),
        ("in H1 2026", "2026-01-01", "2026-07-01"),
        ("in H2 of 2025", "2025-07-01", "2026-01-01"),
        ("in the week of 3 May 2026", "2026-04-27", "2026-05-04"),
        ("What did Ann say yesterday?", "2026-11-30", "2026-12-01"),
        ("the day before yesterday", "2026-11-29", "2026-11-30"),
        ("what is due today", "2026-12-01", "2026-12-02"),
        ("tonight", "2026-12-01", "2026-12-02"),
        ("this week", "2026-11-30", "2026-12-07"),
        ("last week", "2026-11-23", "2026-11-30"),
        ("last week's call", "2026-11-23", "2026-11-30"),
        ("yesterday's call", "2026-11-30", "2026-12-01"),
        ("in March's call", "2026-03-01", "2026-04-01"),
        ("in the past week", "2026-11-24", "2026-12-02"),
        ("in March, when we met", "2026-03-01", "2026-04-01"),
        ("what was said in Q3 about it", "2026-07-01", "2026-10-01"),
        ("eleven days ago", "2026-11-20", "2026-11-21"),
        ("on 29 February", "2024-02-29", "2024-03-01"),
        ("in the week of May 3", "2026-04-27", "2026-05-04"),
        ("pricing March 2026", "2026-03-01", "2026-04-01"),
        ("14 March 2026", "2026-03-14", "2026-03-15"),
        ("Q3 2025?", "2025-07-01", "2025-10-01"),
        ("the third quarter of 2025", "2025-07-01", "2025-10-01"),
        ("the week of 3 May 2026", "2026-04-27", "2026-05-04"),
        ("What about 2026-03-14?", "2026-03-14", "2026-03-15"),
        ("last weekend", "2026-11-28", "2026-11-30"),
        ("this month", "2026-12-01", "2027-01-01"),
        ("last month", "2026-11-01", "2026-12-01"),
        ("previous quarter", "2026-07-01", "2026-10-01"),
        ("this year", "2026-01-01", "2027-01-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("on Monday", "2026-11-30", "2026-12-01"),
        ("on Tuesday", "2026-12-01", "2026-12-02"),
        ("last Tuesday", "2026-11-24", "2026-11-25"),
        ("two days ago", "2026-11-29", "2026-11-30"),
        ("a week ago", "2026-11-23", "2026-11-30"),
        ("3 months ago", "2026-09-01", "2026-10-01"),
        ("a couple of years ago", "2024-01-01", "2025-01-01"),
        ("in the last 30 days", "2026-11-01", "2026-12-02"),
        ("over the past two weeks", "2026-11-17", "2026-12-02"),
        ("the previous 3 months", "2026-09-01", "2026-12-02"),
        ("since Monday", "2026-11-30", OPEN),
        ("since 2025", "2025-01-01", OPEN),
        ("after March 3", "2026-03-04", OPEN),
        ("before 2025-03-01", LONG_AGO, "2025-03-01"),
        ("prior to Q2 2026", LONG_AGO, "2026-04-01"),
        ("between 3 May and 7 June", "2026-05-03", "2026-06-08"),
        ("between November and March", "2025-11-01", "2026-04-01"),
        ("from Q1 2025 to Q3 2025", "2025-01-01", "2025-10-01"),
        ("from 1 March 2026 until 5 March 2026", "2026-03-01", "2026-03-06"),
        ("from yesterday to today", "2026-11-30", "2026-12-02"),
        # Of several a range first, then an open end.
        ("in March, or since May 2026?", "2026-05-01", OPEN),
    ],
)
def test_a_question_names_a_window(question: str, first: str, end: str) -> None:
    """Documented: section 9, time words; the newest that has begun where the year is left out."""
    assert _days(question) == (first, end)


@pytest.mark.parametrize(
    "question",
    [
        "What is in the May release?",
        "the 2024 budget",
        "the Q3 roadmap",
        "march on",
        "may I go",
        "May I see the March figures?",
        "due by Friday",
        "the plan for Q3",
        "over 2000 customers",
        "within 2000 meters",
        "after 2000 users",
        "in 2000 lines",
        "in 2024 budget",
        "in Q3 roadmap",
        "in March madness",
        "the March 2026 figures",
        "what did USA Today write",
        "\u00absince Monday\u00bb, who said it?",
        "on 14 March 26",
        "When did she say that?",
        "version 2.2024",
        "OPS-2025",
        "on Monday.com",
        "a second opinion",
        "Sun Microsystems",
        "on 2026-02-30",
        "on 31 February 2026",
        "on March 35",
        "in May 2020-22",
        "in 2025-13",
        'who said "in March 2026"?',
        "who wrote `since Monday`?",
        "in 1850",
        "in 20255",
        "one second ago",
        "since forever",
        "between us and them",
        "before lunch",
        "the first quarter back",
        "in the 2024 budget",
        "last summer",
        "marching in mayhem",
        "",
    ],
)
def test_what_only_looks_like_a_time_names_none(question: str) -> None:
    """Documented: what a window is must be decided by grammar."""
    assert _days(question) is None


@pytest.mark.parametrize(
    ("zone", "first", "hours"),
    [
        ("Europe/Berlin", "2026-10-24T22:00:00+00:00", 25),
        ("America/New_York", "2026-10-25T04:00:00+00:00", 24),
        ("Asia/Tokyo", "2026-10-24T15:00:00+00:00", 24),
    ],
)
def test_a_day_begins_and_ends_where_the_caller_lives(zone: str, first: str, hours: int) -> None:
    """Documented: time words are read in the caller's zone; a day may have 25 hours."""
    window = named_window("on 25 October 2026", now=NOW, zone=ZoneInfo(zone))
    assert window is not None
    begin = datetime.fromisoformat(first)
    assert timedelta(microseconds=window.start) + EPOCH == begin
    assert timedelta(microseconds=window.end - window.start) == timedelta(hours=hours)


def test_yesterday_is_that_of_the_caller() -> None:
    """Documented: not the server's day."""
    now = datetime(2026, 12, 1, 23, 30, tzinfo=UTC)
    assert _days("yesterday", now=now, zone=ZoneInfo("Asia/Tokyo")) == ("2026-12-01", "2026-12-02")
    assert _days("yesterday", now=now, zone=ZoneInfo("America/New_York")) == (
        "2026-11-30",
        "2026-12-01",
    )


_WORDS = st.sampled_from(
    [
        *("in", "on", "since", "before", "between", "and", "from", "to", "the", "last", "of"),
        *("March", "may", "2026", "1900", "9999", "31", "0", "999", "years", "days", "ago", "Q1"),
        *("week", "yesterday", "2026-02-29", "late", "three", "-", ",", "."),
    ]
)


@given(
    st.one_of(st.text(max_size=80), st.lists(_WORDS, max_size=12).map(" ".join)),
    st.datetimes(timezones=st.just(UTC)),
    st.sampled_from(["UTC", "Europe/Berlin", "Pacific/Apia", "Pacific/Kiritimati", "America/Adak"]),
)
def test_every_text_names_a_window_that_begins_before_it_ends_or_none(
    text: str, now: datetime, zone: str
) -> None:
    """Ours: no question is an error, at no time and nowhere."""
    window = named_window(text, now=now, zone=ZoneInfo(zone))
    assert window is None or window.start < window.end


def test_a_day_that_a_zone_left_out_is_no_window() -> None:
    """Regression: Samoa had no 30 December 2011."""
    assert named_window("on 30 December 2011", now=NOW, zone=ZoneInfo("Pacific/Apia")) is None


def test_a_text_that_is_cut_is_cut_between_words() -> None:
    """Regression: "in March 2026" cut before its year was the March of this one."""
    for before in range(1_980, 2_010):
        window = _days("x " * (before // 2) + "y" * (before % 2) + " in March 2020")
        assert window in {None, ("2020-03-01", "2020-04-01")}


def test_a_text_of_any_length_is_read_at_once() -> None:
    """Ours: a document is no question; what is read of it is bounded."""
    assert named_window("since " * 50_000, now=NOW, zone=BERLIN) is None
    assert named_window('"' * 99_999, now=NOW, zone=BERLIN) is None
