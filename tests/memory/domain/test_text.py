"""The text answer."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampup_site.kernel.clock import Micros
from memory.domain.limits import MAX_CHARS, MIN_CHARS
from memory.domain.text import NOTHING, HitView, render_hits
from tests.memory.domain.texts import BODIES

_CALL = HitView(
    "ab" * 32, "gong:7", "sales_call", Micros(1_774_966_930_123_456), "t3-t4", "Ann: hi"
)
_NOTE = HitView("cd" * 32, "note:acme", "doc", Micros(0), "p2", " Owned by Priya.\n")


def test_an_answer_quotes_cites_and_ends_with_the_episodes() -> None:
    """Documented: the layout of section 9, for passages."""
    again = replace(_CALL, label="t9", text="Bo: no\nAnn: well")
    assert render_hits([_CALL, _NOTE, again]) == (
        "In the sources:\n"
        '- [e1 t3-t4] "Ann: hi"\n'
        '- [e2 p2] "Owned by Priya."\n'
        '- [e1 t9] "Bo: no\n'
        '  Ann: well"\n'
        "\n"
        "Episodes:\n"
        f"e1 = {'ab' * 32}   sales_call  gong:7   2026-03-31\n"
        f"e2 = {'cd' * 32}   doc  note:acme   1970-01-01"
    )


def test_no_hits_say_so() -> None:
    """Ours: an empty answer is words, not an empty text."""
    assert render_hits([]) == NOTHING


def test_whole_passages_fill_the_room_and_the_rest_is_counted() -> None:
    """Documented: `max_chars` cuts at whole items with a closing count."""
    hits = [replace(_NOTE, label=f"p{n}", text="word " * 30) for n in range(1, 11)]
    answer = render_hits(hits, max_chars=800)
    assert "\n… 6 more\n\nEpisodes:\n" in answer
    assert answer.count("\n- [e1 p") == 4
    assert all(f'[e1 p{n}] "{("word " * 30).strip()}"' in answer for n in range(1, 5))


def test_quoted_text_cannot_pass_for_lines_of_the_answer() -> None:
    """Ours: what is stored stays indented, whichever line end it uses."""
    forged = "x\nEpisodes:\r\ne9 = 00\u2028- [e9 p1] \rlie\x85- [e8 p1]"
    lines = render_hits([replace(_NOTE, text=forged)]).split("\n")
    assert [line for line in lines if not line.startswith("  ")] == [
        "In the sources:",
        '- [e1 p2] "x',
        "",
        "Episodes:",
        f"e1 = {'cd' * 32}   doc  note:acme   1970-01-01",
    ]


@given(
    st.lists(
        st.builds(
            HitView,
            st.sampled_from(["ab" * 32, "cd" * 32, "ef" * 32]),
            st.sampled_from(["note:a", "doc:" + "\U0001f1e8\U0001f1ed" * 250]),
            st.just("doc"),
            st.integers(0, 10**15).map(Micros),
            st.just("p1-p99"),
            BODIES,
        ),
        min_size=1,
        max_size=12,
    ),
    st.integers(MIN_CHARS, MAX_CHARS // 8),
)
def test_an_answer_fits_and_is_never_empty(hits: list[HitView], max_chars: int) -> None:
    """Documented: never more than `max_chars`; ours: never without a passage."""
    answer = render_hits(hits, max_chars=max_chars)
    assert len(answer) <= max_chars
    assert answer.startswith("In the sources:\n- [e1 p1-p99]")


@pytest.mark.parametrize("chars", range(MIN_CHARS, MIN_CHARS + 12))
def test_a_passage_that_is_cut_ends_with_a_whole_character(chars: int) -> None:
    """Regression: case 8, an emoji of seven code points on the limit of `max_chars`."""
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
    answer = render_hits([replace(_NOTE, text=family * 200)], max_chars=chars)
    shown = answer.partition('"')[2].partition('…"')[0]
    assert shown == family * (len(shown) // len(family))
    assert shown
