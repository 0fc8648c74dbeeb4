"""Cuts a body into passages of at most 1,500 bytes, at unit boundaries where it can.

Passages do not overlap, and put together they are the body: nothing is lost between them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memory.domain.graphemes import inside_grapheme
from memory.domain.limits import PASSAGE_BYTES
from memory.domain.units import Unit


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a body.

    Args:
        n: its number, from 1.
        first_unit, last_unit: the units it touches.
    """

    n: int
    first_unit: int
    last_unit: int
    text: str


_SENTENCE_END: Final = re.compile(r"[.!?\u2026\u3002\uff01\uff1f]['\")\]\u201d\u2019]{0,3}\s+|\n+")
_WORD_END: Final = re.compile(r"\s+")
_WINDOW: Final = 600
"""Characters before the limit in which a sentence's end is looked for."""


def cut_passages(body: str, units: Sequence[Unit]) -> tuple[Passage, ...]:
    """Gather units into passages; a unit that is too long by itself is cut at a sentence.

    Source: specification, section 9, "Chunks".
    """
    if len(body) <= PASSAGE_BYTES and _size(body) <= PASSAGE_BYTES:
        return (Passage(1, 1, units[-1].n, body),)
    return tuple(
        Passage(n, first, last, body[start:end])
        for n, (first, last, start, end) in enumerate(_spans(body, units), start=1)
    )


def _spans(body: str, units: Sequence[Unit]) -> Iterator[tuple[int, int, int, int]]:
    first, start, end, room = 0, 0, 0, PASSAGE_BYTES
    last = 0
    for unit in units:
        size = _size(body[unit.start : unit.end])
        if first and size > room:
            yield first, last, start, end
            first = 0
        if not first:
            first, start, room = unit.n, unit.start, PASSAGE_BYTES
        if size > PASSAGE_BYTES:
            *whole, (start, end) = _pieces(body, unit.start, unit.end)
            for piece in whole:
                yield unit.n, unit.n, *piece
            room = PASSAGE_BYTES - _size(body[start:end])
        else:
            end = unit.end
            room -= size
        last = unit.n
    if first:
        yield first, last, start, end


def _pieces(body: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a span into pieces that fit."""
    while True:
        fits = _fitting(body, start, end)
        if fits >= end:
            yield start, end
            return
        cut = _best_cut(body, start, fits)
        yield start, cut
        start = cut


def _fitting(body: str, start: int, end: int) -> int:
    """Return the furthest offset whose span from `start` still fits."""
    chunk = body[start : min(end, start + PASSAGE_BYTES)]
    encoded = chunk.encode()
    if len(encoded) <= PASSAGE_BYTES:
        return start + len(chunk)
    return start + len(encoded[:PASSAGE_BYTES].decode(errors="ignore"))


def _best_cut(body: str, start: int, fits: int) -> int:
    """Return where to cut at or before `fits`: a sentence, else a word, else a whole character."""
    low = max(start + 1, fits - _WINDOW)
    for boundary in (_SENTENCE_END, _WORD_END):
        ends = [match.end() for match in boundary.finditer(body, low, fits)]
        while ends:
            cut = ends.pop()
            if not inside_grapheme(body, cut, since=start):
                return cut
    cut = fits
    while cut > low and inside_grapheme(body, cut, since=start):
        cut -= 1
    return cut if cut > low else fits


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
