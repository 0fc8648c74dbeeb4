"""The catalog's pointers: rows of a SQL catalog in the same Postgres, moved in the landing.

The tables are those of pyiceberg's SqlCatalog, and pointers move by the statement it issues
itself, so that another engine's commit through the same catalog conflicts and is not lost.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Move:
    """A table's step from one version to the next; no version before, and it is made."""

    key: TableKey
    before: str | None
    after: str


def move_pointers(connection: psycopg.Connection, moves: Sequence[Move]) -> None:
    """Point tables at their next versions, if each is still at the one before.

    Raises:
        LedgerConflict: somebody else moved one; the transaction must be rolled back.
    """
    made = [(*move.key, move.after) for move in moves if move.before is None]
    known = [(*move.key, move.before, move.after) for move in moves if move.before is not None]
    moved = 0
    if made:
        moved += _create(connection, made)
    if known:
        moved += connection.execute(
            "UPDATE public.iceberg_tables AS held"
            " SET metadata_location = move.after, previous_metadata_location = move.before"
            " FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[])"
            " AS move(namespace, name, before, after)"
            " WHERE held.catalog_name = %s AND held.table_namespace = move.namespace"
            " AND held.table_name = move.name AND held.metadata_location = move.before",
            (*_columns(known), CATALOG),
        ).rowcount
    if moved != len(moves):
        names = ", ".join(".".join(move.key) for move in moves)
        message = f"One of these tables was moved by somebody else: {names}."
        raise LedgerConflict(message)


def drop_pointers(connection: psycopg.Connection, keys: Iterable[TableKey]) -> None:
    """Take tables out of the catalog; their files stay."""
    for namespace, name in keys:
        connection.execute(
            "DELETE FROM public.iceberg_tables"
            " WHERE catalog_name = %s AND table_namespace = %s AND table_name = %s",
            (CATALOG, namespace, name),
        )


def _create(connection: psycopg.Connection, made: Sequence[tuple[str, ...]]) -> int:
    namespaces = sorted({namespace for namespace, *_ in made})
    connection.execute(
        "INSERT INTO public.iceberg_namespace_properties"
        " SELECT %s, unnest(%s::text[]), 'exists', 'true' ON CONFLICT DO NOTHING",
        (CATALOG, namespaces),
    )
    return connection.execute(
        "INSERT INTO public.iceberg_tables"
        " SELECT %s, namespace, name, at, NULL, 'TABLE'"
        " FROM unnest(%s::text[], %s::text[], %s::text[]) AS made(namespace, name, at)"
        " ON CONFLICT DO NOTHING",
        (CATALOG, *_columns(made)),
    ).rowcount


def _columns(rows: Sequence[tuple[str, ...]]) -> tuple[list[str], ...]:
    return tuple(list(column) for column in zip(*rows, strict=True))


def namespaces_of(pointers: Mapping[TableKey, str], *, but: str) -> tuple[str, ...]:
    """Return the namespaces that hold tables, sorted, without one."""
    return tuple(sorted({namespace for namespace, _ in pointers if namespace != but}))
