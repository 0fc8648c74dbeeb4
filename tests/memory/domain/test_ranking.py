"""BM25."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.ranking import bm25, inverse_document_frequency


def _score(frequency: int, length: int, *, matches: int = 3, passages: int = 100) -> float:
    (score,) = bm25(
        np.array([[[float(frequency)]]]),
        np.array([[float(length)]]),
        passages=passages,
        mean_lengths=(50.0,),
        document_frequencies=(matches,),
    )
    return score


def test_a_score_is_the_one_of_the_formula() -> None:
    """Documented: k1 1.2 and b 0.75, section 9."""
    norm = 0.25 + 0.75 * 80 / 50
    expected = math.log(1 + 97.5 / 3.5) * (2 / norm) * 2.2 / (2 / norm + 1.2)
    assert math.isclose(_score(2, 80), expected)


@given(st.integers(1, 200), st.integers(1, 500), st.integers(1, 99))
def test_more_shorter_and_rarer_is_better(frequency: int, length: int, matches: int) -> None:
    """Ours: every part of the score goes one way, and stays below what a term can give."""
    score = _score(frequency, length, matches=matches)
    assert score < _score(frequency + 1, length, matches=matches)
    assert score > _score(frequency, length + 1, matches=matches)
    assert score > _score(frequency, length, matches=matches + 1) > 0
    assert score < 2.2 * inverse_document_frequency(matches, passages=100)


def test_statistics_of_an_empty_memory_are_no_error() -> None:
    """Ours: no passages, a mean length of 0 and more matches than passages all give numbers."""
    assert _score(1, 1, passages=0) == 0.0
    assert _score(1, 0, matches=7, passages=2) > 0
    assert (
        bm25(
            np.zeros((0, 1, 1)),
            np.zeros((0, 1)),
            passages=0,
            mean_lengths=(0.0,),
            document_frequencies=(0,),
        )
        == []
    )
