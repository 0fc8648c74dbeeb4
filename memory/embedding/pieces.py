"""Cuts a text's tokens into pieces that a model can read whole, so that no end stays unseen."""

from collections.abc import Sequence
from itertools import pairwise


def cut_pieces(tokens: Sequence[int], *, limit: int) -> list[Sequence[int]]:
    """Return the pieces in order, each of at most `limit`, and of nearly one length.

    Even pieces, because a rest of three words would be a vector of nearly nothing. A text without
    tokens is one empty piece.
    """
    count = max(1, -(-len(tokens) // limit))
    bounds = [len(tokens) * number // count for number in range(count + 1)]
    return [tokens[start:end] for start, end in pairwise(bounds)]
