"""Which segments that follow one another become one."""

from collections.abc import Iterator, Sequence
from typing import Final

_JOINED: Final = 8
"""Segments of a size that become one: each passage is written again at each size."""

_SIZES: Final = (8_000, 64_000)
"""Below the first a segment is small, below the second middling; larger ones stay."""

_LARGEST: Final = 131_072
"""Passages of the largest segment: joining it holds a snapshot for some seconds."""


def run_to_join(passages: Sequence[int]) -> slice | None:
    """Return the first neighbours to become one segment: eight of a size, or all that fit."""
    for begin, end in _runs([_size(count) for count in passages]):
        total, stop = 0, begin
        while stop < end and stop - begin < _JOINED and total + passages[stop] <= _LARGEST:
            total += passages[stop]
            stop += 1
        if end - begin >= _JOINED and stop - begin > 1:
            return slice(begin, stop)
    return None


def _size(passages: int) -> int:
    return sum(passages >= size for size in _SIZES)


def _runs(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield begin and end of the runs of neighbours of one size that may still be joined."""
    begin = 0
    for place in range(1, len(sizes) + 1):
        if place == len(sizes) or sizes[place] != sizes[begin]:
            if sizes[begin] < len(_SIZES):
                yield begin, place
            begin = place
