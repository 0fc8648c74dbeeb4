"""The database the index lives in: connections of its own for landings, readers on loan."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Final

import psycopg
from psycopg.pq import Format

from memory.search import ddl

_SESSION: Final = {
    "search_path": f"{ddl.SCHEMA},public",
    "plan_cache_mode": "force_custom_plan",
    "jit": "off",
}
"""Index statements depend on their values: a generic plan picks the wrong index for a narrow
caller, and compiling a query takes longer than any of them."""

_LOOKUPS: Final = {"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off"}

Lend = Callable[[], AbstractContextManager[psycopg.Connection]]


@dataclass(frozen=True, slots=True)
class IndexDatabase:
    """How to reach the index.

    Args:
        dsn: libpq URL of the database.
        lend: lends a pooled connection in autocommit mode to one thread, for reads.
    """

    dsn: str
    lend: Lend = field(repr=False)

    def connect(self, *, application: str, lookups: bool = False) -> psycopg.Connection:
        """Open a connection of one's own in autocommit mode, set up for index statements.

        Args:
            lookups: for one that only looks up keys: its plans are made once, and never by
                scanning, whatever a table's size was when they were made.
        """
        session = {**_SESSION, **_LOOKUPS} if lookups else _SESSION
        options = " ".join(f"-c {name}={value}" for name, value in session.items())
        return psycopg.connect(
            self.dsn,
            autocommit=True,
            application_name=f"ampup {application}",
            options=options,
            connect_timeout=10,
            keepalives_idle=30,
        )

    @contextmanager
    def reading(self) -> Iterator[psycopg.Cursor]:
        """Lend a binary cursor on a pooled connection; statements see what has landed."""
        # By name: a pool's connections may make cursors that put values into the text itself.
        with self.lend() as connection, psycopg.Cursor(connection) as cursor:
            cursor.format = Format.BINARY
            yield cursor

    @contextmanager
    def snapshot(self) -> Iterator[psycopg.Cursor]:
        """Lend a binary cursor whose statements all see the same moment; it writes nothing."""
        with self.lend() as connection, psycopg.Cursor(connection) as cursor:
            cursor.format = Format.BINARY
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                yield cursor
