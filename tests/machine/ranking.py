"""The one ranking formula as plain Python over lists: what search must answer, slowly."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memory.domain.analyzer import Lexemes
from memory.domain.weights import term_weight


@dataclass(frozen=True)
class Ranked:
    """A passage as the formula sees it; `place` orders equals: newest landed first.

    Args:
        thread: what its neighbours share.
        at: when it occurred, and where it stands among what occurred then.
    """

    body: Lexemes
    names: Lexemes
    thread: object
    at: tuple[int, ...]
    assistant: bool = False


def scores_of(passages: Sequence[Ranked], terms: Sequence[str]) -> list[float]:
    """Return each passage's score: BM25F, k1 1.2, b 0.75, names 0.6, neighbours 0.3."""
    if not passages:
        return []
    near = [_neighbours(passages, number) for number in range(len(passages))]
    bodies = _norms([float(one.body.length) for one in passages])
    names = _norms([float(one.names.length) for one in passages])
    around = _norms(
        [sum(fading * passages[other].body.length for other, fading in some) for some in near]
    )
    scores = [0.0] * len(passages)
    for term in terms:
        counts = [one.body.terms.get(term, 0) for one in passages]
        named = [one.names.terms.get(term, 0) for one in passages]
        matches = sum(bool(count or name) for count, name in zip(counts, named, strict=True))
        idf = math.log(1 + (len(passages) - matches + 0.5) / (matches + 0.5)) * term_weight(term)
        for number, some in enumerate(near):
            frequency = counts[number] / bodies[number] + 0.6 * named[number] / names[number]
            if term_weight(term) == 1:
                heard = sum(fading * counts[other] for other, fading in some)
                frequency += 0.3 * heard / around[number]
            scores[number] += idf * 2.2 * frequency / (frequency + 1.2)
    return [
        score * 0.75 if one.assistant else score
        for score, one in zip(scores, passages, strict=True)
    ]


def _norms(lengths: Sequence[float]) -> list[float]:
    mean = max(sum(lengths) / len(lengths), 1e-9)
    return [0.25 + 0.75 * length / mean for length in lengths]


def _neighbours(passages: Sequence[Ranked], number: int) -> list[tuple[int, float]]:
    """Return the passages up to three before and after in a talk, and what each counts for."""
    mine = passages[number]
    talk = sorted(
        (one.at, other) for other, one in enumerate(passages) if one.thread == mine.thread
    )
    here = talk.index((mine.at, number))
    found = []
    for step in (-1, 1):
        for distance, fading in ((1, 1.0), (2, 0.7), (3, 0.49)):
            there = here + step * distance
            if not 0 <= there < len(talk):
                break
            if abs(talk[there][0][0] - talk[there - step][0][0]) > 6 * 3600 * 10**6:
                break
            found.append((talk[there][1], fading))
    return found
