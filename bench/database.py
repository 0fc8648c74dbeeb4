"""The bench's databases: made, copied whole and dropped on the server that is measured."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from ampup_site.postgres.local import attach


@dataclass(frozen=True, slots=True)
class DatabaseServer:
    """A Postgres whose databases we may make and drop.

    Args:
        dsn: libpq URL of any database of it, as a user who may create others.
    """

    dsn: str

    def url_of(self, name: str) -> str:
        """Return the URL of one of its databases."""
        return urlunsplit(urlsplit(self.dsn)._replace(path=f"/{name}"))

    def exists(self, name: str) -> bool:
        """Say whether there is such a database."""
        with self.connect() as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,))
            return found.fetchone() is not None

    def create(self, name: str) -> None:
        """Make an empty database in place of any of that name."""
        self._replace(name, "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'", ())

    def copy(self, source: str, *, to: str) -> None:
        """Copy a database in place of another, file by file, and start from a clean disk."""
        self._replace(to, "CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy", (source,))
        with self.connect() as connection:
            connection.execute("CHECKPOINT")

    def drop(self, name: str) -> None:
        """Drop a database and end who is connected to it."""
        with self.connect() as connection:
            connection.execute(
                sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
            )

    def connect(self) -> psycopg.Connection:
        """Open a connection for administration, in autocommit mode."""
        return psycopg.connect(self.dsn, autocommit=True, application_name="bench admin")

    def _replace(self, name: str, statement: str, others: tuple[str, ...]) -> None:
        for held in (name, *others):
            self._end_sessions(held)
        self.drop(name)
        with self.connect() as connection:
            names = [sql.Identifier(part) for part in (name, *others)]
            connection.execute(sql.SQL(statement).format(*names))

    def _end_sessions(self, name: str) -> None:
        with self.connect() as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,)
            )


@contextmanager
def database_server(folder: Path) -> Iterator[DatabaseServer]:
    """Lend the configured Postgres, else an embedded one that lives in `folder`."""
    configured = os.environ.get("AMPUP_MEMORY_DATABASE_URL")
    if configured:
        yield DatabaseServer(configured)
        return
    with attach(folder) as local:
        yield DatabaseServer(local.dsn)
