"""What stock tools cost on this machine: the other side of the ratios."""

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Final

import psycopg
import pyarrow as pa
from pyarrow import parquet
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

_NAMESPACE: Final = "bench_stock"
_FSYNC_THREADS: Final = 12
_TEXTS: Final = pa.list_(pa.string())
_TIME: Final = pa.timestamp("us", tz="UTC")

NOTE_COLUMNS: Final = pa.schema(
    [
        pa.field("episode_id", pa.string(), nullable=False),
        pa.field("commit_id", pa.string(), nullable=False),
        pa.field("branch_id", pa.int64(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("episode_type", pa.string(), nullable=False),
        pa.field("document", pa.string()),
        pa.field("occurred_at", _TIME, nullable=False),
        pa.field("recorded_at", _TIME, nullable=False),
        pa.field("body_sha256", pa.string(), nullable=False),
        pa.field("body", pa.string(), nullable=False),
        pa.field("author", pa.string()),
        pa.field("acl", _TEXTS),
        pa.field("about", _TEXTS),
        pa.field("tags", _TEXTS),
        pa.field("meta", pa.string()),
    ]
)
"""A note as one row, the way somebody would store it with the stock library alone."""


class StockAppend:
    """One note made durable with stock pyiceberg: append, one parallel fsync, one empty commit.

    Args:
        dsn: libpq URL of the database that holds the catalog and takes the commit.
        warehouse: a folder of its own.
    """

    def __init__(self, *, dsn: str, warehouse: Path) -> None:
        self._catalog = SqlCatalog(
            _NAMESPACE,
            uri=dsn.replace("postgresql://", "postgresql+psycopg://", 1),
            warehouse=warehouse.as_uri(),
        )
        self._catalog.create_namespace_if_not_exists(_NAMESPACE)
        self._connection = psycopg.connect(dsn, autocommit=True)
        self._pool = ThreadPoolExecutor(_FSYNC_THREADS)
        self._numbers = count()

    def seconds(self, body: str) -> float:
        """Return how long one note takes in a table that is new and empty."""
        table = self._catalog.create_table(
            (_NAMESPACE, f"notes_{next(self._numbers)}"), schema=NOTE_COLUMNS
        )
        row = pa.Table.from_pylist([_note(body)], schema=table.schema().as_arrow())
        began = perf_counter()
        table.append(row)
        list(self._pool.map(_fsync, _written(table)))
        empty_commit(self._connection)
        return perf_counter() - began

    def close(self) -> None:
        """Drop the tables and let go of everything."""
        for name in self._catalog.list_tables(_NAMESPACE):
            self._catalog.drop_table(name)
        self._pool.shutdown()
        self._connection.close()
        self._catalog.close()


def empty_commit(connection: psycopg.Connection) -> None:
    """Commit nothing, durably.

    A transaction that wrote no WAL is not flushed, however it is committed; the empty message
    makes it wait for the disk as any real one does.
    """
    with connection.transaction():
        connection.execute("SELECT pg_logical_emit_message(true, 'bench', '')")


def parquet_rate(tables: list[pa.Table], folder: Path, *, rows: int) -> float:
    """Return rows a second of raw Parquet writing: one file a table, nothing else.

    Args:
        tables: the same rows that the product writes, as Arrow already.
        folder: where the files go; on the disk of the warehouse.
        rows: how many rows count, whatever tables they are spread over.
    """
    folder.mkdir(parents=True, exist_ok=True)
    began = perf_counter()
    for place, table in enumerate(tables):
        parquet.write_table(table, folder / f"raw_{place}.parquet", compression="zstd")
    return rows / (perf_counter() - began)


def _note(body: str) -> dict[str, object]:
    return {
        "episode_id": "0" * 64,
        "commit_id": "c_01JDVXK5ZZ0000000000000000",
        "branch_id": 0,
        "source": "mcp:remember_memory:local:bench/one",
        "episode_type": "note",
        "document": None,
        "occurred_at": 1_796_083_200_000_000,
        "recorded_at": 1_796_083_200_000_000,
        "body_sha256": "0" * 64,
        "body": body,
        "author": "local",
        "acl": ["*"],
        "about": [],
        "tags": [],
        "meta": None,
    }


def _written(table: Table) -> list[Path]:
    """Return the files of the table's one append and the folders they stand in."""
    root = Path(table.location().removeprefix("file://"))
    return [root, *root.rglob("*")]


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
