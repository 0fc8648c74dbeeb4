"""The index as an operator sees it: where it stands, building it anew beside, comparing it."""

from dataclasses import dataclass

import psycopg

from accounts.domain.caller import Caller
from accounts.domain.roles import Action, allows
from accounts.domain.scope import Scope
from memory.domain.analyzer import FINGERPRINT
from memory.domain.progress import Progress, silent
from memory.domain.read_context import ReadContext
from memory.engine import Engine
from memory.landing.rebuild import RebuildReport, rebuild_index
from memory.landing.verify import VerifyReport, verify_index
from memory.search.commits import commit_at_head, read_log
from memory.search.folding import waiting_passages
from memory.search.heads import Head, live_head
from memory.search.unembedded import count_waiting
from memory.search.upkeep import TAIL_LIMIT, tail_length
from memory.services.access import open_scope

_NO_SCOPE = 0
"""The number of no scope: theirs begin at 1."""


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """What only administrators and services are shown: of the whole server, or of a scope.

    Args:
        applied: the newest commit that the index has; None before the first.
        pending: passages that the mover has not folded into segments yet.
        unembedded: passages that have no vectors yet, and are found by keyword alone.
        tail: vectors that are searched exactly, not yet under HNSW.
        tail_long: whether the tail is long enough that loads slow down.
        analyzer_current: False if the live generation was built by another analyzer.
    """

    applied: str | None
    pending: int
    unembedded: int
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

    A caller that is bound to an org is shown the counts of its scope alone, since those of the
    whole server tell how much others write.

    Raises:
        IndexBehind: there is no index; it has to be rebuilt.
    """
    with engine.index.reading() as cursor:
        context = open_scope(engine, cursor, caller, scope)
        head = live_head(cursor)
        counts = None
        if allows(caller.role, Action.INDEX_STATUS_COUNTS):
            bound = caller.org is not None
            counts = _counts(engine, cursor, head, context if bound else None)
    return IndexStatus(ready=True, generation=head.generation, counts=counts)


def _counts(
    engine: Engine, cursor: psycopg.Cursor, head: Head, context: ReadContext | None
) -> IndexCounts:
    """Return the counts of the scope that is read, or those of the whole server."""
    if context is None:
        applied, scope_id = commit_at_head(cursor, head), None
    else:
        newest = read_log(cursor, context, limit=1)
        applied = newest[0].commit_id if newest else None
        scope_id = context.scope_id or _NO_SCOPE
    tail = tail_length(cursor, head, scope_id=scope_id)
    meaning = engine.meaning
    fingerprint = None if meaning is None else meaning.embedder.fingerprint
    return IndexCounts(
        applied=applied,
        pending=waiting_passages(cursor, head, scope_id=scope_id),
        unembedded=count_waiting(cursor, head, fingerprint, scope_id) if fingerprint else 0,
        tail=tail,
        tail_long=tail > TAIL_LIMIT,
        analyzer_current=head.analyzer == FINGERPRINT,
    )


def rebuild(engine: Engine, *, progress: Progress | None = None) -> RebuildReport:
    """Build the index anew from the tables beside the live one, then flip to it.

    Args:
        progress: told the ledger position reached and the one aimed at.
    """
    return rebuild_index(
        index=engine.index,
        warehouse=engine.warehouse,
        types=engine.types,
        clock=engine.clock,
        progress=progress or silent,
    )


def verify(engine: Engine, *, since: int = 0, progress: Progress | None = None) -> VerifyReport:
    """Compare the live index with what the tables say it must hold.

    Args:
        since: compare only commits after this ledger position.
    """
    return verify_index(
        index=engine.index,
        warehouse=engine.warehouse,
        types=engine.types,
        since=since,
        progress=progress or silent,
    )
