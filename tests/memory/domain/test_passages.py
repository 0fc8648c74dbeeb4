"""How bodies are cut into passages."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.graphemes import inside_grapheme
from memory.domain.limits import PASSAGE_BYTES
from memory.domain.passages import Passage, cut_passages
from memory.domain.units import UnitKind, split_units
from tests.memory.domain.texts import BODIES


def _cut(body: str, kind: UnitKind = UnitKind.PARAGRAPH) -> tuple[Passage, ...]:
    return cut_passages(body, split_units(body, kind))


@given(BODIES, st.sampled_from(UnitKind))
def test_passages_put_together_are_the_body_and_each_fits(body: str, kind: UnitKind) -> None:
    """Documented: at most 1,500 bytes of UTF-8, no overlap, cut at unit boundaries."""
    units = split_units(body, kind)
    passages = cut_passages(body, units)
    assert "".join(passage.text for passage in passages) == body
    assert all(0 < len(passage.text.encode()) <= PASSAGE_BYTES for passage in passages)
    assert [passage.n for passage in passages] == list(range(1, len(passages) + 1))
    assert passages[0].first_unit == 1
    assert passages[-1].last_unit == units[-1].n
    at = 0
    for passage in passages:
        first, last = units[passage.first_unit - 1], units[passage.last_unit - 1]
        assert first.start <= at < first.end
        at += len(passage.text)
        assert last.start < at <= last.end


@pytest.mark.parametrize(
    "character",
    [
        "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
        "\U0001f1e8\U0001f1ed",
        "e\u0301",
        "\u0928\u093f",
        "1\ufe0f\u20e3",
        "\U0001f44d\U0001f3fd",
        "\u1100\u1161\u11a8",
        "\u4f1a",
    ],
)
@pytest.mark.parametrize("lead", [-2, -1, 0, 1, 2])
def test_no_cut_parts_what_is_seen_as_one_character(character: str, lead: int) -> None:
    """Regression: case 8, an emoji on the cut."""
    body = "x" * (PASSAGE_BYTES - len(character.encode()) + lead) + character * 400
    at = 0
    for passage in _cut(body)[:-1]:
        at += len(passage.text)
        assert not inside_grapheme(body, at)


def test_a_unit_that_is_too_long_is_cut_where_a_sentence_ends() -> None:
    """Documented: an over-long unit is split at a sentence."""
    body = "This sentence is about the harbour and its boats. " * 60
    assert all(passage.text.endswith("boats. ") for passage in _cut(body))


def test_small_units_share_a_passage_and_none_is_parted_for_room() -> None:
    """Documented: cuts fall between units where they can."""
    body = "".join(f"Ann: {'word ' * 40}{n}\nBo: fine\n" for n in range(30))
    units = split_units(body, UnitKind.TURN)
    passages = cut_passages(body, units)
    assert len(passages) < 10
    assert [(passage.first_unit, passage.last_unit) for passage in passages[:-1]] == [
        (before.first_unit, after.first_unit - 1) for before, after in pairwise(passages)
    ]
