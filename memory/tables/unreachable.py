"""When a file of the warehouse was first seen unreachable: rows beside the catalog's pointers."""

from collections.abc import Collection
from pathlib import Path
from typing import Final

import psycopg

from ampup_site.kernel.clock import Micros
from memory.tables.catalog import CATALOG, TableKey

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS public.iceberg_unreachable (
    catalog_name varchar(255) NOT NULL,
    table_namespace varchar(255) NOT NULL,
    table_name varchar(255) NOT NULL,
    path text NOT NULL,
    seen_at bigint NOT NULL,
    PRIMARY KEY (catalog_name, table_namespace, table_name, path)
)
"""


def note_seen(
    connection: psycopg.Connection, key: TableKey, paths: Collection[Path], *, now: Micros
) -> dict[Path, Micros]:
    """Keep exactly these files of a table; return when each was first seen, in microseconds."""
    names = [str(path) for path in paths]
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtext('ampup.unreachable'))")
        connection.execute(_TABLE)
        connection.execute(
            "DELETE FROM public.iceberg_unreachable WHERE catalog_name = %s"
            " AND table_namespace = %s AND table_name = %s AND path <> ALL(%s)",
            (CATALOG, *key, names),
        )
        connection.execute(
            "INSERT INTO public.iceberg_unreachable SELECT %s, %s, %s, unnest(%s::text[]), %s"
            " ON CONFLICT DO NOTHING",
            (CATALOG, *key, names, now),
        )
        rows = connection.execute(
            "SELECT path, seen_at FROM public.iceberg_unreachable"
            " WHERE catalog_name = %s AND table_namespace = %s AND table_name = %s",
            (CATALOG, *key),
        ).fetchall()
    return {Path(path): Micros(seen_at) for path, seen_at in rows}


def forget_seen(connection: psycopg.Connection, key: TableKey, paths: Collection[Path]) -> None:
    """Strike out files that were removed."""
    connection.execute(
        "DELETE FROM public.iceberg_unreachable WHERE catalog_name = %s"
        " AND table_namespace = %s AND table_name = %s AND path = ANY(%s)",
        (CATALOG, *key, [str(path) for path in paths]),
    )
