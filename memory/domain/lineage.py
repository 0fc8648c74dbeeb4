"""Where a branch's history runs: pieces of the one ledger, each a branch between two seqs."""

from dataclasses import dataclass
from typing import NewType, TypeAlias

BranchId = NewType("BranchId", int)
"""The seq of the ledger row that made the branch; main is 0."""

Seq = NewType("Seq", int)
"""A position in the ledger, from 1 without a gap; 0 stands before the first row."""

MAIN = BranchId(0)


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of one branch with `from_seq <= seq <= to_seq`."""

    branch_id: BranchId
    from_seq: Seq
    to_seq: Seq

    def holds(self, *, branch_id: int, seq: int) -> bool:
        """Say whether a row stands in this piece."""
        return branch_id == self.branch_id and self.from_seq <= seq <= self.to_seq


Lineage: TypeAlias = tuple[Piece, ...]
"""The pieces a read sees; a row is on the lineage if any piece holds it."""


def main_lineage(head: Seq) -> Lineage:
    """Return the lineage of main up to a ledger position."""
    return (Piece(MAIN, Seq(1), head),)


def on_lineage(lineage: Lineage, *, branch_id: int, seq: int) -> bool:
    """Say whether a row is on the lineage: the model that the SQL is compared with."""
    return any(piece.holds(branch_id=branch_id, seq=seq) for piece in lineage)
