"""How a text's tokens are cut."""

from hypothesis import given
from hypothesis import strategies as st

from memory.embedding.pieces import cut_pieces


@given(st.lists(st.integers(0, 9), max_size=60), st.integers(1, 12))
def test_no_token_is_lost_and_pieces_are_even(tokens: list[int], limit: int) -> None:
    """Documented: nothing beyond a piece stays unseen; ours: no piece is a mere rest."""
    pieces = cut_pieces(tokens, limit=limit)
    assert [token for piece in pieces for token in piece] == tokens
    sizes = [len(piece) for piece in pieces]
    assert max(sizes) <= limit
    assert max(sizes) - min(sizes) <= 1
    assert len(pieces) == max(1, -(-len(tokens) // limit))
