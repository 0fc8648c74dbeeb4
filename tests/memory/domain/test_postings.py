"""The compact postings column, and what Postgres is given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.analyzer import Lexemes, analyze
from memory.domain.postings import frequencies, pack, tsquery_text, tsvector_binary
from tests.memory.domain.texts import BODIES


@given(st.lists(BODIES, min_size=1, max_size=4), st.integers(0, 5))
def test_what_is_packed_is_looked_up_again(bodies: list[str], skip: int) -> None:
    """Ours: frequencies and lengths as the analyzer counted them."""
    passages = [analyze(body) for body in bodies]
    terms = [*list(dict.fromkeys(t for p in passages for t in p.terms))[skip:], "absent-term"]
    counts, lengths = frequencies([pack((passage,)) for passage in passages], terms)
    assert lengths.tolist() == [[passage.length] for passage in passages]
    assert counts.tolist() == [
        [[min(passage.terms.get(term, 0), 255) for term in terms]] for passage in passages
    ]


@given(st.lists(st.tuples(BODIES, BODIES, BODIES), min_size=1, max_size=3))
def test_several_fields_are_told_apart(rows: list[tuple[str, str, str]]) -> None:
    """Ours: more fields need no other layout."""
    packed = [tuple(analyze(text) for text in row) for row in rows]
    terms = list(dict.fromkeys(t for row in packed for field in row for t in field.terms))
    counts, lengths = frequencies([pack(row) for row in packed], terms)
    assert lengths.tolist() == [[field.length for field in row] for row in packed]
    assert counts.tolist() == [
        [[min(field.terms.get(term, 0), 255) for term in terms] for field in row] for row in packed
    ]


def test_a_column_is_the_same_bytes_for_ever() -> None:
    """Ours: rows of one fingerprint are compared byte by byte; golden value."""
    assert pack((Lexemes({"kiosk": 300, "pier": 1}, 301),)).hex() == (
        "010102002d010000301717f3dd00fcabff01"
    )


def test_nothing_is_found_in_nothing() -> None:
    """Ours: no passage, no term and no word are no errors."""
    empty = pack((Lexemes({}, 0),))
    assert frequencies([], ["a"])[0].shape == (0, 1, 1)
    assert frequencies([empty], [])[0].shape == (1, 1, 0)
    counts, lengths = frequencies([empty, pack((Lexemes({"a": 2}, 2),))], ["a", "a"])
    assert counts.tolist() == [[[0.0, 0.0]], [[2.0, 2.0]]]
    assert lengths.tolist() == [[0.0], [2.0]]


@pytest.mark.parametrize("term", ["kiosk", "caf\u00e9", "a'b", "a\\", "snake_case", "cut~0f"])
def test_lexemes_are_written_as_postgres_receives_them(term: str) -> None:
    """Ours: the binary form of a tsvector, and quoting wherever a query is text."""
    assert tsvector_binary([term, "b"]) == b"\0\0\0\x02" + term.encode() + b"\0\0\0b\0\0\0"
    assert tsquery_text([term, "b"]).endswith(" | 'b'")
