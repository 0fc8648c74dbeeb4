"""The database of one process: the named Postgres, or the embedded one while it is needed."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections
from django.db.backends.postgresql.base import DatabaseWrapper
from django.db.migrations.executor import MigrationExecutor

from accounts.domain.names import DEFAULT_ORG
from ampup_site.kernel.clock import SystemClock
from ampup_site.postgres.local import LocalPostgres, attach
from ampup_site.postgres.named import check_named
from ampup_site.settings import env

_MIGRATION_LOCK: Final = 0x414D505550  # "AMPUP"
_VARIABLE: Final = env.PREFIX + "DATABASE_URL"


@contextmanager
def database_for_process(*, migrated: bool) -> Iterator[LocalPostgres | None]:
    """Have a database within the context; None is yielded for a named one.

    Child processes find it by the environment, so they need not attach themselves.

    Args:
        migrated: also bring the schema up to date.

    Raises:
        DatabaseUnavailable: there is none.
    """
    if env.text("DATABASE_URL", ""):
        check_named(settings.AMPUP_DATABASE_DSN)
        with _open(migrated=migrated):
            yield None
        return
    with attach(settings.AMPUP_DATA_DIR) as server:
        if server.dsn != settings.AMPUP_DATABASE_DSN:
            # Its first start moved it to a system folder; settings are read only once.
            os.execv(sys.executable, sys.orig_argv)  # noqa: S606 -- our own words
        os.environ[_VARIABLE] = server.dsn
        try:
            with _open(migrated=migrated):
                yield server
        finally:
            del os.environ[_VARIABLE]


@contextmanager
def _open(*, migrated: bool) -> Iterator[None]:
    try:
        if migrated:
            migrate_if_behind(settings.AMPUP_DATABASE_DSN)
            ensure_org()
        yield
    finally:
        close_all()


def close_all() -> None:
    """Stop the engine if one was built, and give every connection back."""
    wiring = sys.modules.get("memory.wiring")
    if wiring is not None:
        wiring.close_engine()
    for each in connections.all(initialized_only=True):
        each.close()
        if isinstance(each, DatabaseWrapper) and each.pool is not None:
            each.close_pool()


def ensure_org() -> None:
    """Make the org that requests without one mean, where it has a name of its own."""
    from accounts.services.orgs import ensure_default_org  # models load after django.setup()

    if settings.AMPUP_DEFAULT_ORG != DEFAULT_ORG:
        ensure_default_org(settings.AMPUP_DEFAULT_ORG, clock=SystemClock())


def migrate_if_behind(dsn: str) -> None:
    """Apply the migrations that are missing; of processes that start at once, one does."""
    if not _is_behind():
        return
    with psycopg.connect(dsn) as lock:
        lock.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
        if _is_behind():
            call_command("migrate", verbosity=0, interactive=False)


def _is_behind() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
