"""Keyword and meaning in one order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.fusion import fuse, keyword_alone, keyword_share
from memory.domain.ranking import Keyword


def _keyword(scores: list[float], *, coverage: float = 1.0) -> Keyword:
    return Keyword(np.array(scores), coverage)


def _places(count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.arange(count, dtype=np.int64)


def test_at_full_coverage_keyword_counts_six_tenths() -> None:
    """Documented: section 9, passages the same as facts at full keyword coverage."""
    fused = fuse(_keyword([4.0, 2.0]), _places(2), np.array([0.05, 0.85]))
    assert fused.keyword_share == 0.6
    assert fused.keyword.tolist() == [1.0, 0.5]
    assert np.allclose(fused.meaning, [0.2, 1.0])
    assert np.allclose(fused.totals, [0.6 + 0.4 * 0.2, 0.6 * 0.5 + 0.4])


def test_where_keyword_covers_little_meaning_decides() -> None:
    """Documented: where the best keyword hit covers little of the query, weight moves."""
    assert keyword_share(0.0) < keyword_share(0.4) < keyword_share(0.8) == keyword_share(1.0)
    fused = fuse(_keyword([4.0, 0.0], coverage=0.05), _places(2), np.array([0.1, 0.7]))
    assert fused.totals[1] > fused.totals[0]


def test_a_passage_without_a_vector_is_ranked_by_keyword_until_it_has_one() -> None:
    """Ours: a note of a moment ago is not put behind because its vector follows."""
    fused = fuse(_keyword([4.0, 3.9, 1.0]), _places(3), np.array([np.nan, 0.2, 0.9]))
    assert fused.totals[0] == 1.0
    assert int(np.argmax(fused.totals)) == 0


def test_without_any_vector_the_total_is_keyword() -> None:
    """Documented: no embedding model, total = keyword."""
    keyword = _keyword([4.0, 2.0, 1.0])
    alone = keyword_alone(keyword, _places(3))
    fused = fuse(keyword, _places(3), np.full(3, np.nan))
    assert alone.totals.tolist() == fused.totals.tolist() == [1.0, 0.5, 0.25]
    assert np.isnan(fused.meaning).all()


@given(
    st.lists(
        st.tuples(st.floats(0, 50), st.one_of(st.just(float("nan")), st.floats(-1, 1))),
        max_size=8,
    ),
    st.floats(0, 1),
)
def test_every_total_is_between_nothing_and_one(
    drawn: list[tuple[float, float]], coverage: float
) -> None:
    """Ours: scores can be shown, whatever the parts are."""
    keyword = _keyword([score for score, _ in drawn], coverage=coverage)
    fused = fuse(keyword, _places(len(drawn)), np.array([cosine for _, cosine in drawn]))
    assert ((fused.totals >= 0) & (fused.totals <= 1 + 1e-9)).all()
