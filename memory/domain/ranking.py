"""BM25 over fields: how well a passage answers a query, given what is visible."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

K1: Final = 1.2
B: Final = 0.75
"""Saturation and length normalisation.  Source: specification, section 9."""

FIELD_WEIGHTS: Final = (1.0,)
"""The body alone, for now.  Source: architecture, section 6."""


def inverse_document_frequency(matches: int, *, passages: int) -> float:
    """Return the weight of a term that stands in so many of the visible passages; above 0."""
    return math.log(1.0 + (passages - matches + 0.5) / (matches + 0.5)) if passages else 0.0


def bm25(
    counts: npt.NDArray[np.float64],
    lengths: npt.NDArray[np.float64],
    *,
    passages: int,
    mean_lengths: Sequence[float],
    document_frequencies: Sequence[int],
) -> list[float]:
    """Return a score of 0 or more for each passage.

    Args:
        counts: of shape (passages, fields, terms), as `postings.frequencies` returns them.
        lengths: of shape (passages, fields).
        passages: how many passages are visible.
        mean_lengths: for each field, its mean length over the visible passages.
        document_frequencies: for each term, in how many visible passages it stands.
    """
    means = np.array([mean or 1.0 for mean in mean_lengths])
    weights = np.array(FIELD_WEIGHTS)
    norms = 1.0 - B + B * lengths / means
    frequency = np.einsum("f,pft,pf->pt", weights, counts, 1.0 / norms)
    idf = np.array(
        [
            inverse_document_frequency(min(matches, passages), passages=passages)
            for matches in document_frequencies
        ]
    )
    saturated = frequency * (K1 + 1.0) / (frequency + K1)
    return [float(score) for score in saturated @ idf]
