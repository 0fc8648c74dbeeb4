"""Other engines read the tables where they stand, and count what we count."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from memory.tables.compaction import compact
from tests.memory.tables.book import NAMESPACE, Book, commit_id, notes
from tests.memory.tables.rows import one_of_each

_MODULES = ("avro", "iceberg", "httpfs")


@pytest.fixture
def many(book: Book) -> Book:
    """Forty landings, every table, manifests merged, the tail compacted once."""
    book.land(one_of_each(commit_id()))
    for n in range(39):
        book.land(notes([f"note {n}", f"second of {n}"]))
        if n == 20:
            assert compact(book.warehouse, (NAMESPACE, "episodes"), min_files=8) is not None
    return book


def test_stock_pyiceberg_reads_every_table_through_the_catalog(many: Book) -> None:
    """Documented: plain Iceberg behind a SQL catalog in the same Postgres."""
    catalog = SqlCatalog(
        "ampup",
        uri=many.dsn.replace("postgresql://", "postgresql+psycopg://"),
        warehouse=many.warehouse.root.as_uri(),
    )
    try:
        counts = {
            table: catalog.load_table((NAMESPACE, table)).scan().to_arrow().num_rows
            for table in ("episodes", "bodies", "facts", "tombstones", "schemas", "acl_changes")
        }
        ledger = catalog.load_table(("memory_system", "ledger"))
        one = ledger.scan(row_filter="seq >= 38 and seq < 40").to_arrow()
    finally:
        catalog.engine.dispose()
    assert counts == {
        "episodes": 80,
        "bodies": 79,
        "facts": 2,
        "tombstones": 1,
        "schemas": 1,
        "acl_changes": 1,
    }
    assert sorted(one.column("seq").to_pylist()) == [38, 39]
    assert len(ledger.metadata.snapshots) == 20


def test_duckdb_counts_the_landed_episodes(
    many: Book, metadata_of: Callable[[str, str], str]
) -> None:
    """Documented: episodes joined with the ledger, by an engine that knows nothing of us."""
    with duckdb.connect(config={"allow_unsigned_extensions": "true"}) as engine:
        for module in _MODULES:
            engine.execute(f"LOAD '{_extension(module)}'")
        found = engine.execute(
            "SELECT count(*), count(DISTINCT l.seq) FROM iceberg_scan(?) e"
            " JOIN iceberg_scan(?) l ON l.commit_id = e.commit_id AND l.scope = ?",
            [metadata_of(NAMESPACE, "episodes"), metadata_of("memory_system", "ledger"), NAMESPACE],
        ).fetchone()
    assert found == (80, 40)


def _extension(name: str) -> Path:
    module = pytest.importorskip(f"duckdb_extension_{name}")
    folder = Path(str(module.__file__)).parent / "extensions" / f"v{duckdb.__version__}"
    return folder / f"{name}.duckdb_extension"
