"""A warehouse of its own for each test, over the catalog of the test database."""

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings

from memory.tables.warehouse import Warehouse
from tests.conftest import forget_everything
from tests.memory.tables.book import Book


@pytest.fixture
def dsn(transactional_db: None) -> str:
    """The libpq URL of an empty catalog."""
    forget_everything(settings.AMPUP_DATABASE_DSN)
    return str(settings.AMPUP_DATABASE_DSN)


@pytest.fixture
def book(dsn: str, tmp_path: Path) -> Book:
    """An empty warehouse and its ledger."""
    return Book(Warehouse(root=tmp_path / "warehouse", dsn=dsn), dsn)


@pytest.fixture
def connection(dsn: str) -> Iterator[psycopg.Connection]:
    """A connection to the catalog."""
    with psycopg.connect(dsn, autocommit=True) as held:
        yield held


@pytest.fixture
def metadata_of(connection: psycopg.Connection) -> Callable[[str, str], str]:
    """Where the present metadata of a table is."""

    def find(namespace: str, table: str) -> str:
        row = connection.execute(
            "SELECT metadata_location FROM public.iceberg_tables"
            " WHERE table_namespace = %s AND table_name = %s",
            (namespace, table),
        ).fetchone()
        assert row is not None
        return str(row[0])

    return find
