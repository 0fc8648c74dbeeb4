"""The one door to reads: checks the caller and returns the ReadContext every read demands."""

import psycopg

from accounts.domain.caller import Caller
from accounts.domain.roles import Action
from accounts.domain.scope import Scope
from accounts.services.permissions import require
from memory.domain.read_context import ReadContext
from memory.engine import Engine
from memory.search.contexts import read_context


def open_scope(
    engine: Engine,
    cursor: psycopg.Cursor,
    caller: Caller,
    scope: Scope,
    *,
    action: Action = Action.READ,
) -> ReadContext:
    """Check that a caller may read a scope, and say what it may see there now.

    Args:
        cursor: the one the read itself will use.
        action: what is done with what is read; writes that must read first name theirs.

    Raises:
        AmpUpError: the caller may not, or the scope does not exist.
    """
    require(caller, action, scope)
    return read_context(
        cursor,
        namespace=scope.namespace,
        entries=None if caller.sees_all else caller.entries(),
        at=engine.clock.now(),
    )
