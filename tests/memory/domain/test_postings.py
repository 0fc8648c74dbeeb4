"""The compact postings column, and the lists that many of them make."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.analyzer import Lexemes, analyze
from memory.domain.postings import invert, listed, lists_of, pack, term_key, unpack
from tests.memory.domain.texts import BODIES


def _counted(columns: list[bytes], term: str) -> dict[int, list[int]]:
    """Return the passages a term stands in, with its counts, as a reader of the tail finds it."""
    found = list(lists_of(unpack(columns), [term_key(term)]))
    return {
        passage: counts
        for _, numbers, held in found
        for passage, counts in zip(numbers.tolist(), held.tolist(), strict=True)
    }


@given(st.lists(BODIES, min_size=1, max_size=4), st.integers(0, 5))
def test_what_is_packed_is_looked_up_again(bodies: list[str], skip: int) -> None:
    """Ours: frequencies, lengths and flags as they were counted; an empty field changes nothing."""
    passages = [analyze(body) for body in bodies]
    columns = [pack((passage, analyze("")), flags=skip) for passage in passages]
    assert unpack(columns).lengths.tolist() == [[passage.length, 0] for passage in passages]
    assert unpack(columns).flags.tolist() == [skip] * len(columns)
    for term in [*list(dict.fromkeys(t for p in passages for t in p.terms))[skip:], "absent-term"]:
        assert _counted(columns, term) == {
            place: [min(passage.terms[term], 255), 0]
            for place, passage in enumerate(passages)
            if term in passage.terms
        }


@given(st.lists(st.tuples(BODIES, BODIES, BODIES), min_size=1, max_size=3))
def test_several_fields_are_told_apart(rows: list[tuple[str, str, str]]) -> None:
    """Ours: more fields need no other layout."""
    packed = [tuple(analyze(text) for text in row) for row in rows]
    columns = [pack(row) for row in packed]
    assert unpack(columns).lengths.tolist() == [[field.length for field in row] for row in packed]
    for term in dict.fromkeys(t for row in packed for field in row for t in field.terms):
        assert _counted(columns, term) == {
            place: [min(field.terms.get(term, 0), 255) for field in row]
            for place, row in enumerate(packed)
            if any(term in field.terms for field in row)
        }


@given(st.lists(BODIES, max_size=6), st.integers(0, 1_000), st.integers(0, 6))
def test_lists_of_neighbours_joined_end_to_end_are_the_lists_of_all(
    bodies: list[str], first: int, cut: int
) -> None:
    """Ours: joining segments is putting bytes behind bytes."""
    columns = [pack((analyze(body), analyze("to"))) for body in bodies]
    whole = {key: held for key, *held in invert(unpack(columns), first=first)}
    joined: dict[int, list[bytes]] = {}
    for begin, part in ((0, columns[:cut]), (cut, columns[cut:])):
        for key, numbers, counts in invert(unpack(part), first=first + begin):
            before = joined.get(key, [b"", b""])
            joined[key] = [before[0] + numbers, before[1] + counts]
    assert joined == whole


@given(st.lists(BODIES, min_size=1, max_size=4))
def test_a_list_says_what_the_columns_say(bodies: list[str]) -> None:
    """Ours: a passage is found the same whether it was folded or not."""
    columns = [pack((analyze(body), analyze("to"))) for body in bodies]
    forward = unpack(columns)
    for key, numbers, counts in invert(forward, first=0):
        [(place, held, frequencies)] = lists_of(forward, [key])
        assert place == 0
        assert np.array_equal(held, listed(numbers, counts)[0])
        assert np.array_equal(frequencies, listed(numbers, counts)[1])


def test_a_column_is_the_same_bytes_for_ever() -> None:
    """Ours: rows of one fingerprint are compared byte by byte; golden value."""
    assert pack((Lexemes({"kiosk": 300, "pier": 1}, 301),)).hex() == (
        "03010002002d0100000ffdf9457db74c496b226fa07805aa14ff01"
    )


def test_nothing_is_found_in_nothing() -> None:
    """Ours: no passage, no term and no word are no errors."""
    empty = pack((Lexemes({}, 0),))
    assert _counted([], "a") == {}
    assert _counted([empty], "a") == {}
    assert _counted([empty, pack((Lexemes({"a": 2}, 2),))], "a") == {1: [2]}
    assert list(lists_of(unpack([empty]), [])) == []
    assert list(invert(unpack([empty]), first=5)) == []
