"""Which rows stand on a branch's history."""

from hypothesis import given
from hypothesis import strategies as st

from memory.domain.lineage import MAIN, BranchId, Piece, Seq, main_lineage, on_lineage

pieces = st.builds(
    Piece,
    st.sampled_from((MAIN, BranchId(3), BranchId(7))),
    st.integers(1, 20).map(Seq),
    st.integers(0, 20).map(Seq),
)


@given(st.integers(0, 50), st.integers(0, 60))
def test_main_holds_the_rows_of_main_up_to_its_head(head: int, seq: int) -> None:
    """Documented: architecture, invariant 2: a read sees one prefix of the ledger."""
    lineage = main_lineage(Seq(head))
    assert on_lineage(lineage, branch_id=MAIN, seq=seq) == (1 <= seq <= head)
    assert not on_lineage(lineage, branch_id=3, seq=seq)


@given(st.lists(pieces, max_size=4), st.sampled_from((0, 3, 7, 9)), st.integers(0, 25))
def test_a_row_is_on_a_lineage_when_any_piece_holds_it_in_whatever_order(
    drawn: list[Piece], branch_id: int, seq: int
) -> None:
    """Ours: pieces are a set; a piece that ends before it begins holds nothing."""
    expected = any(
        branch_id == piece.branch_id and seq in range(piece.from_seq, piece.to_seq + 1)
        for piece in drawn
    )
    assert on_lineage(tuple(drawn), branch_id=branch_id, seq=seq) == expected
    assert on_lineage(tuple(reversed(drawn)), branch_id=branch_id, seq=seq) == expected
