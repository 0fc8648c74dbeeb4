"""The ledger as an operator sees it: proof, anchor and log."""

from dataclasses import dataclass

from accounts.domain.caller import Caller
from accounts.domain.roles import Action
from accounts.domain.scope import Scope
from ampup_site.kernel.errors import BadRequest
from memory.domain.limits import MAX_K
from memory.domain.progress import Progress, silent
from memory.engine import Engine
from memory.search.commits import Commit, read_log
from memory.services.access import open_scope
from memory.tables.verify import Anchor, LedgerReport, ledger_head, verify_ledger


@dataclass(frozen=True, slots=True)
class Log:
    """The newest commits of a scope, newest first."""

    commits: tuple[Commit, ...]


def verify(engine: Engine, *, progress: Progress | None = None) -> LedgerReport:
    """Prove the chain and every commit's rows from the files; Postgres' rows are not read."""
    return verify_ledger(engine.warehouse, progress=progress or silent)


def head(engine: Engine) -> Anchor:
    """Return the chain's present end, to be kept elsewhere as an anchor."""
    return ledger_head(engine.warehouse)


def log(engine: Engine, caller: Caller, scope: Scope, *, limit: int = 20) -> Log:
    """Return a scope's newest commits; for administrators and services.

    Raises:
        BadRequest: `limit` is not 1 to 200.
    """
    if not 1 <= limit <= MAX_K:
        message = f"`limit` must be from 1 to {MAX_K}."
        raise BadRequest(message, field="limit")
    with engine.index.reading() as cursor:
        context = open_scope(engine, cursor, caller, scope, action=Action.LOG)
        return Log(read_log(cursor, context, limit=limit))
