"""How bodies split into units."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampup_site.kernel.errors import BadRequest
from memory.domain.limits import MAX_BODY_BYTES
from memory.domain.passages import cut_passages
from memory.domain.units import UnitKind, parse_units, split_units
from tests.memory.domain.texts import BODIES


@given(BODIES, st.sampled_from(UnitKind))
def test_units_put_together_are_the_body(body: str, kind: UnitKind) -> None:
    """Documented: units are numbered from 1; ours: their spans leave nothing out."""
    units = split_units(body, kind)
    assert "".join(body[unit.start : unit.end] for unit in units) == body
    assert [unit.n for unit in units] == list(range(1, len(units) + 1))
    assert [unit.label[1:] for unit in units] == [str(unit.n) for unit in units]


def _texts(body: str, kind: UnitKind) -> list[str]:
    return [body[unit.start : unit.end] for unit in split_units(body, kind)]


def test_a_turn_is_a_name_and_what_follows() -> None:
    """Documented: `[time]? Name: text` and the lines up to the next; text before is unit 1."""
    body = (
        "Weekly call\n[00:01:02] Ann Lee: hi\nsecond line\n10:30 Bo: yes\nsee https://x.example\n"
    )
    assert _texts(body, UnitKind.TURN) == [
        "Weekly call\n",
        "[00:01:02] Ann Lee: hi\nsecond line\n",
        "10:30 Bo: yes\nsee https://x.example\n",
    ]
    assert [unit.speaker for unit in split_units(body, UnitKind.TURN)] == [None, "Ann Lee", "Bo"]


def test_a_message_begins_at_a_name_a_header_or_a_quotation() -> None:
    """Documented: for mail also a `From:` header or `On … wrote:`; ours: no other header."""
    body = (
        "From: ann@x.example\nTo: bo@x.example\nSubject: Kiosk\n\nDone.\n"
        "On Monday, Bo wrote:\n> When?\n"
    )
    assert _texts(body, UnitKind.MESSAGE) == [
        "From: ann@x.example\nTo: bo@x.example\nSubject: Kiosk\n\nDone.\n",
        "On Monday, Bo wrote:\n> When?\n",
    ]


def test_paragraphs_keep_headings_lists_and_fences_whole() -> None:
    """Documented: a heading joins the next block, a fenced block is one unit, lists stay whole."""
    body = "# Title\n\nOne.\nmore\n\n- a\n- b\n\n  goes on\n- c\n\nAfter\n```\n\nx\n\n```\nend\n"
    assert _texts(body, UnitKind.PARAGRAPH) == [
        "# Title\n\nOne.\nmore\n\n",
        "- a\n- b\n\n  goes on\n- c\n\n",
        "After\n```\n\nx\n\n```\nend\n",
    ]


def test_a_field_is_a_line_or_a_key_of_a_json_object() -> None:
    """Documented: one `key: value` line, or one top-level key."""
    assert _texts("Stage: won\nNext step: call\nmore\n", UnitKind.FIELD) == [
        "Stage: won\n",
        "Next step: call\nmore\n",
    ]
    assert _texts('{"a": {"b": 1}, "c": "x,\\"y"}', UnitKind.FIELD) == [
        "{",
        '"a": {"b": 1}, ',
        '"c": "x,\\"y"}',
    ]


@pytest.mark.parametrize("kind", UnitKind)
def test_a_body_without_a_match_is_one_unit(kind: UnitKind) -> None:
    """Documented: a body with no match is one unit."""
    assert len(split_units("plain words", kind)) == 1


@pytest.mark.parametrize(
    "shape",
    [
        *("a", "\n", "a\n\n", "A: b\n", ":", "{", " ", "\r", "- a\n", "```\n", "[1:00] "),
        *("On x wrote: ", "\u200d", "\U0001f1e6", "\u0301", '{"'),
    ],
)
def test_no_shape_of_a_large_body_costs_more_than_its_length(shape: str) -> None:
    """Ours: no shape of text makes the splitters or the cutter slower than linear.

    A quarter of the largest body, against an eighth of that: quadratic would be 64 times.
    """
    repeats = MAX_BODY_BYTES // 4 // len(shape.encode())
    for kind in UnitKind:
        costs = []
        for body in ("a" + shape * (repeats // 8), "a" + shape * repeats):
            began = time.process_time()
            cut_passages(body, split_units(body, kind))
            costs.append(time.process_time() - began)
        assert costs[1] <= 30 * costs[0] + 0.25, (kind, costs)


@pytest.mark.parametrize(
    ("text", "range_"),
    [("7", (7, 7)), ("3-7", (3, 7)), ("t3-t7", (3, 7)), (" p2 ", (2, 2)), ("3 - 7", (3, 7))],
)
def test_a_range_of_units_is_read_alike_at_every_edge(text: str, range_: tuple[int, int]) -> None:
    """Regression: REST and the shell refused `t3-t7`, which is how citations have it."""
    assert parse_units(text) == range_


@pytest.mark.parametrize("text", ["", "0", "3-1", "x", "-1", "1-", "1,2", "\u0663", "9" * 30, "T3"])
def test_what_is_no_range_of_units_is_refused_by_name(text: str) -> None:
    """Documented: counted from 1, first before last."""
    with pytest.raises(BadRequest) as refused:
        parse_units(text)
    assert refused.value.field == "units"
