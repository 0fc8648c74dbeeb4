"""Recovery of a catalog that is lost or older than the warehouse, and of the index after it."""

from dataclasses import dataclass
from enum import StrEnum

from memory.domain.chain import row_hash
from memory.domain.errors import IndexBehind
from memory.domain.progress import Progress
from memory.engine import Engine
from memory.landing.apply import catch_up
from memory.search.heads import Head, live_head
from memory.services import indexing, ledger
from memory.tables import reading
from memory.tables.recover import Recovery, recover_catalog
from memory.tables.verify import LedgerReport


class IndexFate(StrEnum):
    """What became of the index."""

    UNTOUCHED = "untouched"
    CURRENT = "current"
    CAUGHT_UP = "caught_up"
    REBUILT = "rebuilt"


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """What a recovery did, or would do; `ledger` is None where it was only asked."""

    catalog: Recovery
    index: IndexFate
    ledger: LedgerReport | None


def recover(
    engine: Engine,
    *,
    dry_run: bool,
    leave_unproved: bool = False,
    progress: Progress | None = None,
) -> RecoveryReport:
    """Point the catalog at all that has landed, bring the index there, and prove the ledger.

    Servers may run: they refuse to write until the catalog is right, and go on by themselves.

    Args:
        leave_unproved: leave out a last landing that may never have been acknowledged.
        progress: told the ledger position reached by the index or the proof, and the last one.

    Raises:
        DamagedTable: what has landed is not whole; nothing was changed.
    """
    catalog = recover_catalog(engine.warehouse, dry_run=dry_run, leave_unproved=leave_unproved)
    if dry_run:
        return RecoveryReport(catalog, IndexFate.UNTOUCHED, None)
    fate = _bring_index(engine, progress)
    return RecoveryReport(catalog, fate, ledger.verify(engine, progress=progress))


def _bring_index(engine: Engine, progress: Progress | None) -> IndexFate:
    """Apply what the index lacks; build it anew if it holds what has not landed."""
    with engine.index.connect(application="recovery") as connection:
        try:
            with connection.cursor() as cursor:
                head = live_head(cursor)
        except IndexBehind:
            head = None
        if head is not None and _on_chain(engine, head):
            reached = catch_up(connection, engine.warehouse, engine.types)
            return IndexFate.CURRENT if reached.seq == head.seq else IndexFate.CAUGHT_UP
    indexing.rebuild(engine, progress=progress)
    return IndexFate.REBUILT


def _on_chain(engine: Engine, head: Head) -> bool:
    """Say whether an index ends at a commit of the ledger."""
    if head.seq == 0:
        return True
    rows = reading.ledger_rows(engine.warehouse, from_seq=head.seq, to_seq=head.seq)
    return [row_hash(row) for row in rows] == [head.chain_hash]
