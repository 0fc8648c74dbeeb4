"""Long bodies beside the tables: which no row names, and how such go without harm to a landing.

A blob is written before its landing, so one without a row may still get it. It goes when it is
old, was seen to be nobody's long ago, and is so still under the landing lock; a landing in turn
looks, under that lock, that the blobs of its rows are there.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

import psycopg

from ampup_site.kernel.clock import Micros
from ampup_site.kernel.failpoints import reach
from memory.tables.catalog import TableKey
from memory.tables.files import local_path
from memory.tables.scan import texts_of
from memory.tables.state import TableState
from memory.tables.warehouse import Warehouse

BODIES: Final = "bodies"


def blob_files(folder: Path) -> Iterator[Path]:
    """Yield the blobs in the folder of a table of bodies, and drafts of such."""
    return folder.glob("[0-9a-f][0-9a-f]/*")


def is_blob(path: Path) -> bool:
    """Say whether a file of a table's folder is a long body."""
    return path.parent.name not in {"data", "metadata"}


def named_blobs(state: TableState, *, root: Path) -> set[Path]:
    """Return the blobs that rows name; only that column of the files is read."""
    named: set[Path] = set()
    for file in state.files():
        named.update(root / place for place in texts_of(local_path(file.path), "blob"))
    return named


def remove_blobs(
    connection: psycopg.Connection,
    warehouse: Warehouse,
    key: TableKey,
    doomed: Collection[Path],
    *,
    before: Micros,
) -> list[tuple[Path, int]]:
    """Remove those blobs that no row names and nobody has put there again; return them, sized.

    Args:
        before: blobs that were put there since, again perhaps, stay.

    Raises:
        CatalogBehind: the catalog is older than the warehouse; recover it first.
    """
    gone = []
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (warehouse.lock_key,))
        state = warehouse.checked_state(connection, key)
        for path in sorted(set(doomed) - named_blobs(state, root=warehouse.root)):
            found = path.stat() if path.exists() else None
            if found is not None and found.st_mtime_ns // 1000 <= before:
                path.unlink()
                gone.append((path, found.st_size))
            reach("expiry.deleting")
    return gone
