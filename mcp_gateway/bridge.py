"""The crossing from the event loop to synchronous services: one bounded pool of threads.

A call holds a thread while its service runs, and none while a write waits for its landing.
"""

from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, TypeVar

from accounts.api.outage import DATABASE_DOWN, outage_of
from ampup_site.kernel.threads import pool
from memory.engine import Engine
from memory.wiring import engine

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a call in the pool; its thread's database connection is given back afterwards.

    Raises:
        Unavailable: the database cannot be reached, or the disk not be written.
    """
    try:
        return await pool().run(call, *args, **kwargs)
    except (OSError, *DATABASE_DOWN) as error:
        outage = outage_of(error)
        if outage is None:
            raise
        raise outage from error


async def served(
    service: Callable[Concatenate[Engine, P], T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Run a service of memory on the process's engine, which the first call builds."""

    def call() -> T:
        return service(engine(), *args, **kwargs)

    return await in_thread(call)


async def until_landed(
    service: Callable[Concatenate[Engine, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Run a writing service in the pool, then await its landing outside of it."""
    pending = await served(service, *args, **kwargs)
    return await pending
