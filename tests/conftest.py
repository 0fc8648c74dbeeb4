"""What every test of this repository stands on: an engine of its own on real stores."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from django.conf import settings

from accounts.domain.caller import Caller, local_caller
from accounts.domain.scope import Scope
from accounts.services.orgs import ensure_default_org
from ampup_site.kernel.clock import SystemClock
from ampup_site.postgres.local import attach
from memory import wiring
from memory.engine import Engine

_CATALOG = ("iceberg_tables", "iceberg_namespace_properties")


def pytest_configure(config: pytest.Config) -> None:
    """Start a private Postgres for the run unless one is named; the next run finds it made."""
    if os.environ.get("AMPUP_MEMORY_DATABASE_URL") or config.option.collectonly:
        return
    stack = ExitStack()
    config.add_cleanup(stack.close)
    server = stack.enter_context(attach(settings.AMPUP_DATA_DIR))
    os.environ["AMPUP_MEMORY_DATABASE_URL"] = server.dsn


def forget_everything(dsn: str) -> None:
    """Drop the index and the catalog's rows: an empty server."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS ampup_index CASCADE")
        for table in _CATALOG:
            connection.execute(f"DROP TABLE IF EXISTS public.{table}")


@pytest.fixture
def engine(
    transactional_db: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Engine]:
    """An engine on an empty warehouse and an empty index, the one `wiring.engine()` returns."""
    monkeypatch.setattr(settings, "AMPUP_WAREHOUSE", tmp_path / "warehouse")
    wiring.close_engine()
    forget_everything(settings.AMPUP_DATABASE_DSN)
    # The test before flushed it away with all other rows.
    ensure_default_org(settings.AMPUP_DEFAULT_ORG, clock=SystemClock())
    yield wiring.engine()
    wiring.close_engine()


@pytest.fixture
def owner() -> Caller:
    """The one who runs the server: every right, sees every episode."""
    return local_caller()


@pytest.fixture
def org() -> Scope:
    """The default org's scope."""
    return Scope.org_scope("default")
