"""The catalog's pointers: rows of a SQL catalog in the same Postgres, moved in the landing.

The tables are those of pyiceberg's SqlCatalog, and pointers move by the statement it issues
itself, so that another engine's commit through the same catalog conflicts and is not lost.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import psycopg

from memory.domain.errors import LedgerConflict

CATALOG: Final = "ampup"

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS public.iceberg_tables (
    catalog_name varchar(255) NOT NULL,
    table_namespace varchar(255) NOT NULL,
    table_name varchar(255) NOT NULL,
    metadata_location varchar(1000),
    previous_metadata_location varchar(1000),
    iceberg_type varchar(5),
    PRIMARY KEY (catalog_name, table_namespace, table_name)
);
CREATE TABLE IF NOT EXISTS public.iceberg_namespace_properties (
    catalog_name varchar(255) NOT NULL,
    namespace varchar(255) NOT NULL,
    property_key varchar(255) NOT NULL,
    property_value varchar(1000) NOT NULL,
    PRIMARY KEY (catalog_name, namespace, property_key)
);
"""

TableKey = tuple[str, str]
"""A namespace and a table of it."""


def ensure_catalog(connection: psycopg.Connection) -> None:
    """Make the catalog's tables where they are missing; safe to race."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtext('ampup.catalog'))")
        connection.execute(_TABLES)


def read_pointers(
    connection: psycopg.Connection, namespaces: Iterable[str] | None = None
) -> dict[TableKey, str]:
    """Return where each table's present metadata is; all tables if no namespaces are named."""
    wanted = None if namespaces is None else list(namespaces)
    rows = connection.execute(
        "SELECT table_namespace, table_name, metadata_location FROM public.iceberg_tables"
        " WHERE catalog_name = %s AND (%s::text[] IS NULL OR table_namespace = ANY(%s))",
        (CATALOG, wanted, wanted),
    ).fetchall()
    return {(namespace, table): at for namespace, table, at in rows}


def move_pointer(
    connection: psycopg.Connection, key: TableKey, *, before: str | None, after: str
) -> None:
    """Point a table at its next version, if it is still at the one before.

    Raises:
        LedgerConflict: somebody else moved it.
    """
    namespace, table = key
    if before is None:
        cursor = _create(connection, key, after)
    else:
        cursor = connection.execute(
            "UPDATE public.iceberg_tables"
            " SET metadata_location = %s, previous_metadata_location = %s"
            " WHERE catalog_name = %s AND table_namespace = %s AND table_name = %s"
            " AND metadata_location = %s",
            (after, before, CATALOG, namespace, table, before),
        )
    if cursor.rowcount != 1:
        message = f"Table {namespace}.{table} was moved by somebody else."
        raise LedgerConflict(message)


def _create(connection: psycopg.Connection, key: TableKey, at: str) -> psycopg.Cursor:
    namespace, table = key
    connection.execute(
        "INSERT INTO public.iceberg_namespace_properties"
        " VALUES (%s, %s, 'exists', 'true') ON CONFLICT DO NOTHING",
        (CATALOG, namespace),
    )
    return connection.execute(
        "INSERT INTO public.iceberg_tables VALUES (%s, %s, %s, %s, NULL, 'TABLE')"
        " ON CONFLICT DO NOTHING",
        (CATALOG, namespace, table, at),
    )


def namespaces_of(pointers: Mapping[TableKey, str], *, but: str) -> tuple[str, ...]:
    """Return the namespaces that hold tables, sorted, without one."""
    return tuple(sorted({namespace for namespace, _ in pointers if namespace != but}))
