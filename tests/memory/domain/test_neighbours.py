"""Who stands beside whom, of what is seen."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.episode_types import NOTE_PREFIX
from memory.domain.neighbours import Neighbours, in_thread_order, thread_number
from memory.domain.weights import NEIGHBOUR_FADING, NEIGHBOUR_MICROS

_DRAWN = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.integers(0, 3).map(lambda hours: hours * NEIGHBOUR_MICROS * 2 // 3),
        st.booleans(),
        st.floats(0, 9),
    ),
    max_size=14,
)


@given(_DRAWN)
def test_amounts_go_to_those_beside_as_if_the_hidden_were_not_there(
    drawn: list[tuple[int, int, bool, float]],
) -> None:
    """Documented: neighbours are looked up among rows the caller may see."""
    threads, occurred, seen, amounts = (np.array(column) for column in _columns(drawn))
    order = in_thread_order(threads, occurred)
    near = Neighbours.among(order, seen, threads=threads, occurred=occurred)
    places = np.flatnonzero(seen)
    got = near.spread(places, amounts[places])
    expected = np.zeros(len(drawn))
    for talk in _talks(drawn):
        for at, place in enumerate(talk):
            for distance, fading in enumerate(NEIGHBOUR_FADING, 1):
                for other in (at - distance, at + distance):
                    if 0 <= other < len(talk):
                        expected[talk[other]] += fading * drawn[place][3]
    if got is None:
        got = np.zeros(len(drawn))
    assert np.allclose(got, expected)
    assert not got[~seen].any()


def _columns(drawn: list[tuple[int, int, bool, float]]) -> list[list[float]]:
    if not drawn:
        return [np.zeros(0, kind) for kind in (np.int64, np.int64, bool, float)]  # type: ignore[misc]
    return [list(column) for column in zip(*drawn, strict=True)]


def _talks(drawn: list[tuple[int, int, bool, float]]) -> list[list[int]]:
    """Return the places of what is seen, talk by talk, in order."""
    talks: list[list[int]] = []
    for thread in range(3):
        last = None
        held = [
            (at, place) for place, (one, at, sees, _) in enumerate(drawn) if one == thread and sees
        ]
        for at, place in sorted(held):
            if last is None or at - last > NEIGHBOUR_MICROS:
                talks.append([])
            talks[-1].append(place)
            last = at
    return talks


def test_a_thread_is_a_source_without_its_last_part() -> None:
    """Documented: architecture, section 6; an episode that is a talk of its own stays alone."""
    one = thread_number("slack:C1:1.0", passages=1, rid=7)
    assert one == thread_number("slack:C1:2.0", passages=1, rid=8)
    assert one != thread_number("slack:C2:1.0", passages=1, rid=9)
    assert thread_number("slack:C1:3.0", passages=2, rid=10) == 10
    assert thread_number("note:x", passages=1, rid=11) == 11
    assert thread_number(f"{NOTE_PREFIX}acme", passages=1, rid=12) == 12
    assert -(2**63) <= one < 2**63
