"""Puts keyword and meaning together into one order.

Keyword counts for as much as the best keyword hit covers of the query: where it holds every rare
word, the spec's 0.6; where it holds next to none, the words were others and meaning decides.
Source: architecture, section 6.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memory.domain.ranking import Keyword, Places, Scores
from memory.domain.weights import (
    COSINE_OFFSET,
    FULL_COVERAGE,
    KEYWORD_SHARE,
    LEAST_KEYWORD_SHARE,
)


@dataclass(frozen=True, slots=True)
class Fused:
    """The scores of candidates, in the order of `places`.

    Args:
        keyword, meaning: the parts, each of the best candidate's; meaning is NaN for a passage
            that has no vector yet.
        totals: 0 to 1.
        keyword_share: what keyword counted for.
    """

    places: Places
    keyword: Scores
    meaning: Scores
    totals: Scores
    keyword_share: float


def keyword_alone(keyword: Keyword, places: Places) -> Fused:
    """Return the candidates' scores without meaning: each its share of the best keyword score."""
    shares = _shares(keyword, places)
    return Fused(places, shares, np.full(len(places), np.nan), shares, 1.0)


def fuse(keyword: Keyword, places: Places, cosines: npt.NDArray[np.float64]) -> Fused:
    """Return the candidates' scores.

    Args:
        cosines: of each candidate with the query; NaN for one that has no vector yet, which is
            ranked by keyword alone until it has.
    """
    shares = _shares(keyword, places)
    known = ~np.isnan(cosines)
    if not known.any():
        return keyword_alone(keyword, places)
    meaning = np.maximum(0.0, cosines + COSINE_OFFSET)
    meaning = meaning / max(float(meaning[known].max()), 1e-9)
    share = keyword_share(keyword.coverage)
    totals = np.where(known, share * shares + (1.0 - share) * meaning, shares)
    return Fused(places, shares, meaning, totals, share)


def keyword_share(coverage: float) -> float:
    """Return what keyword counts for, given how much of the query the best hits hold, 0 to 1."""
    reached = min(1.0, coverage / FULL_COVERAGE)
    return LEAST_KEYWORD_SHARE + (KEYWORD_SHARE - LEAST_KEYWORD_SHARE) * reached


def _shares(keyword: Keyword, places: Places) -> Scores:
    best = float(keyword.scores[places].max(initial=0.0)) or 1.0
    return keyword.scores[places] / best
