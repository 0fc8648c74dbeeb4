"""The index as an operator sees it: where it stands, building it anew beside, comparing it."""

from collections.abc import Callable
from dataclasses import dataclass

from accounts.domain.caller import Caller
from accounts.domain.roles import Action, allows
from accounts.domain.scope import Scope
from memory.domain.analyzer import FINGERPRINT
from memory.engine import Engine
from memory.landing.rebuild import RebuildReport, rebuild_index
from memory.landing.verify import VerifyReport, verify_index
from memory.search.commits import commit_at_head
from memory.search.heads import live_head
from memory.search.upkeep import TAIL_LIMIT, pending_passages, tail_length
from memory.services.access import open_scope


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """What only administrators and services are shown.

    Args:
        applied: the commit the index has reached; None before the first.
        pending: passages that the mover has not flushed into the text index yet.
        tail: vectors that are searched exactly, not yet under HNSW.
        tail_long: whether the tail is long enough that loads slow down.
        analyzer_current: False if the live generation was built by another analyzer.
    """

    applied: str | None
    pending: int
    tail: int
    tail_long: bool
    analyzer_current: bool


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Where the index stands; `counts` is None for callers who may not see them."""

    ready: bool
    generation: int
    counts: IndexCounts | None


def status(engine: Engine, caller: Caller, scope: Scope) -> IndexStatus:
    """Tell where the index stands.

    Raises:
        IndexBehind: there is no index; it has to be rebuilt.
    """
    with engine.index.reading() as cursor:
        open_scope(engine, cursor, caller, scope)
        head = live_head(cursor)
        counts = None
        if allows(caller.role, Action.INDEX_STATUS_COUNTS):
            tail = tail_length(cursor, head)
            counts = IndexCounts(
                applied=commit_at_head(cursor, head),
                pending=pending_passages(cursor, head),
                tail=tail,
                tail_long=tail > TAIL_LIMIT,
                analyzer_current=head.analyzer == FINGERPRINT,
            )
    return IndexStatus(ready=True, generation=head.generation, counts=counts)


def rebuild(engine: Engine, *, progress: Callable[[int, int], None] | None = None) -> RebuildReport:
    """Build the index anew from the tables beside the live one, then flip to it.

    Args:
        progress: told the ledger position reached and the one aimed at.
    """
    return rebuild_index(
        index=engine.index,
        warehouse=engine.warehouse,
        types=engine.types,
        clock=engine.clock,
        progress=progress or _silent,
    )


def verify(
    engine: Engine, *, since: int = 0, progress: Callable[[int, int], None] | None = None
) -> VerifyReport:
    """Compare the live index with what the tables say it must hold.

    Args:
        since: compare only commits after this ledger position.
    """
    return verify_index(
        index=engine.index,
        warehouse=engine.warehouse,
        types=engine.types,
        since=since,
        progress=progress or _silent,
    )


def _silent(done: int, total: int) -> None:
    del done, total
