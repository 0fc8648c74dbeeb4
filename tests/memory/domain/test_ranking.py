"""BM25 over what the caller sees."""

import math
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.neighbours import Neighbours
from memory.domain.ranking import (
    Corpus,
    TermList,
    best_places,
    inverse_document_frequency,
    keyword_scores,
    timed_places,
)


def _corpus(
    counts: list[int], lengths: list[int], *, seen: list[bool] | None = None, rows: int = 1
) -> Corpus:
    """Return passages of one term each, `rows` passages an episode row."""
    places = [place for place, count in enumerate(counts) if count]
    visible = np.array(seen if seen is not None else [True] * len(counts), bool)
    occurred = np.array([7] * len(counts), np.int64)
    alone = np.arange(len(counts), dtype=np.int64)
    return Corpus(
        rids=np.arange(len(counts), dtype=np.int64) // rows,
        lengths=np.array(lengths, np.uint32).reshape(-1, 1),
        seen=visible,
        lists=[
            TermList(
                np.array(places, np.int64),
                np.array([[counts[place]] for place in places], np.uint8).reshape(-1, 1),
            )
        ],
        missing=0.0,
        occurred=occurred,
        assistant=np.zeros(len(counts), bool),
        neighbours=Neighbours.among(alone, visible, threads=alone, occurred=occurred),
    )


def _score(frequency: int, length: int, *, matches: int = 3, passages: int = 100) -> float:
    """Score one passage among others that make the mean length 50."""
    others = [1] * (matches - 1) + [0] * (passages - matches)
    rest = (50 * passages - length) / max(len(others), 1)
    corpus = _corpus([frequency, *others], [length, *([round(rest)] * len(others))])
    return float(keyword_scores(corpus).scores[0])


def test_a_score_is_the_one_of_the_formula() -> None:
    """Documented: k1 1.2 and b 0.75, section 9."""
    scores = keyword_scores(_corpus([2, 1, 1, 0], [80, 40, 40, 40])).scores
    norm = 0.25 + 0.75 * 80 / 50
    expected = math.log(1 + 1.5 / 3.5) * (2 / norm) * 2.2 / (2 / norm + 1.2)
    assert math.isclose(scores[0], expected)
    assert scores[3] == 0


@given(st.integers(1, 200), st.integers(1, 500), st.integers(1, 98))
def test_more_shorter_and_rarer_is_better(frequency: int, length: int, matches: int) -> None:
    """Ours: every part of the score goes one way, and stays below what a term can give."""
    score = _score(frequency, length, matches=matches)
    assert score < _score(frequency + 1, length, matches=matches)
    assert score > _score(frequency, length + 100, matches=matches)
    assert score > _score(frequency, length, matches=matches + 1) > 0
    assert score < 2.2 * inverse_document_frequency(matches, passages=100)


_PASSAGES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 40), st.booleans()), min_size=1, max_size=12
)


@given(_PASSAGES)
def test_a_hidden_passage_changes_no_score(passages: list[tuple[int, int, bool]]) -> None:
    """Documented: invariant 6; not the frequencies, not the lengths, not the number of them."""
    counts, lengths, seen = (list(column) for column in zip(*passages, strict=True))
    found = keyword_scores(_corpus(counts, lengths, seen=seen))
    with_hidden = found.scores
    alone = keyword_scores(
        _corpus(
            [count for count, _, sees in passages if sees],
            [length for _, length, sees in passages if sees],
        )
    )
    assert with_hidden[np.array(seen)].tolist() == alone.scores.tolist()
    assert found.coverage == alone.coverage
    assert not with_hidden[~np.array(seen)].any()


@given(_PASSAGES, st.integers(1, 5), st.integers(1, 3))
def test_the_best_come_first_and_of_equals_the_newest(
    passages: list[tuple[int, int, bool]], k: int, rows: int
) -> None:
    """Ours: whatever is cut before sorting, the order is that of sorting everything."""
    counts, _, seen = (list(column) for column in zip(*passages, strict=True))
    corpus = _corpus(counts, [10] * len(counts), seen=seen, rows=rows)
    scores = keyword_scores(corpus).scores
    among = np.array([place % 4 != 3 for place in range(len(counts))])
    ranked = sorted(
        (place for place in range(len(counts)) if scores[place] > 0 and among[place]),
        key=lambda place: (-scores[place], -corpus.rids[place], place),
    )
    assert best_places(corpus, scores, among=among, k=k).tolist() == ranked[:k]
    for newest in (True, False):
        timed = timed_places(corpus, scores, among=None, k=k, newest=newest)
        rids = corpus.rids[timed].tolist()
        assert rids == sorted(rids, reverse=newest)


def test_a_passage_is_numbered_within_its_episode() -> None:
    """Ours: a citation names the passage by its place in the episode's row."""
    corpus = _corpus([1] * 7, [5] * 7, rows=3)
    numbered = [corpus.place_in_episode(place) for place in range(7)]
    assert numbered == [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3), (2, 1)]
    assert all(one < other for one, other in pairwise(numbered))


def test_statistics_of_an_empty_memory_are_no_error() -> None:
    """Ours: no passage, none that is seen and none of any length all give numbers."""
    assert keyword_scores(_corpus([], [])).scores.tolist() == []
    assert keyword_scores(_corpus([1], [4], seen=[False])).scores.tolist() == [0.0]
    assert keyword_scores(_corpus([1], [0])).scores.tolist()[0] > 0
