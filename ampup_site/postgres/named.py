"""A Postgres that the operator named: whether it can hold what we keep."""

from typing import Final

import psycopg

from ampup_site.postgres.errors import DatabaseUnavailable, UnfitDatabase

LEAST_POSTGRES: Final = 15
LEAST_PGVECTOR: Final = (0, 8)


def check_named(dsn: str) -> None:
    """See that a server answers, is new enough and has pgvector.

    Raises:
        DatabaseUnavailable: it does not answer, or refuses us.
        UnfitDatabase: it is too old, or lacks the extension.
    """
    try:
        with psycopg.connect(dsn, connect_timeout=10, autocommit=True) as connection:
            version = connection.info.server_version // 10_000
            row = connection.execute(
                "SELECT coalesce(installed_version, default_version)"
                " FROM pg_available_extensions WHERE name = 'vector'"
            ).fetchone()
    except psycopg.Error as error:
        reason = " ".join(str(error).split())
        message = f"The database of AMPUP_MEMORY_DATABASE_URL does not answer: {reason}"
        raise DatabaseUnavailable(message, field="AMPUP_MEMORY_DATABASE_URL") from error
    check_fit(postgres=version, pgvector=None if row is None else str(row[0]))


def check_fit(*, postgres: int, pgvector: str | None) -> None:
    """Compare versions with the least ones.

    Raises:
        UnfitDatabase: one is too old, or the extension is not there.
    """
    if postgres < LEAST_POSTGRES:
        message = f"Postgres {postgres} is too old; version {LEAST_POSTGRES} or newer is needed."
        raise UnfitDatabase(message, field="AMPUP_MEMORY_DATABASE_URL")
    if pgvector is None:
        message = "This Postgres lacks the extension pgvector; install version 0.8 or newer."
        raise UnfitDatabase(message, field="AMPUP_MEMORY_DATABASE_URL")
    if tuple(int(part) for part in pgvector.split(".")[:2]) < LEAST_PGVECTOR:
        message = f"pgvector {pgvector} is too old; update the extension to 0.8 or newer."
        raise UnfitDatabase(message, field="AMPUP_MEMORY_DATABASE_URL")
