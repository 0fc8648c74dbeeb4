"""Generations of the index: made beside, filled, flipped to live, and dropped when nobody reads."""

from collections.abc import Sequence

import psycopg

from ampup_site.kernel.clock import Micros
from memory.domain.analyzer import FINGERPRINT
from memory.domain.chain import GENESIS
from memory.domain.lineage import Seq
from memory.search import ddl
from memory.search.heads import Head


def ensure_index(connection: psycopg.Connection, *, empty: bool) -> bool:
    """Make the index's tables where they are missing; say whether there is a live generation.

    Args:
        empty: nothing has landed yet, so an empty generation is made live where none is. Else it
            would hide all that has landed until it is filled: that is what a rebuild is for.
    """
    ddl.ensure_tables(connection)
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('ampup_index.first'))")
        live = cursor.execute(
            f"SELECT 1 FROM {ddl.SCHEMA}.ledger_head WHERE state = 'live'"
        ).fetchone()
        if live is None and not empty:
            return False
        if live is None:
            head = open_generation(connection)
            ddl.create_keys(connection, head.generation)
            flip(cursor, generation=head.generation, now=Micros(0))
    return True


def open_generation(connection: psycopg.Connection) -> Head:
    """Make a new, empty generation in state building, with its partitions and no index yet."""
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('ampup_index.ddl'))")
        row = cursor.execute(
            f"INSERT INTO {ddl.SCHEMA}.ledger_head"
            " (generation, state, seq, chain_hash, committed_at, analyzer)"
            f" SELECT coalesce(max(generation), 0) + 1, 'building', 0, %s, 0, %s FROM ("
            f"  SELECT generation FROM {ddl.SCHEMA}.ledger_head"
            "   UNION ALL SELECT unnest(%s::int[])) AS known RETURNING generation",
            (GENESIS, FINGERPRINT, list(_with_partitions(cursor))),
        ).fetchone()
        assert row is not None  # noqa: S101 -- INSERT ... RETURNING without a row is impossible
        ddl.create_partitions(connection, row[0])
    return Head(row[0], "building", Seq(0), GENESIS, Micros(0), FINGERPRINT, 1, Seq(0))


def flip(cursor: psycopg.Cursor, *, generation: int, now: Micros) -> None:
    """Make a building generation live and retire the one that was; under the landing lock."""
    cursor.execute(
        f"UPDATE {ddl.SCHEMA}.ledger_head SET state = 'retired', retired_at = %s"
        " WHERE state = 'live'",
        (now,),
    )
    cursor.execute(
        f"UPDATE {ddl.SCHEMA}.ledger_head SET state = 'live'"
        " WHERE generation = %s AND state = 'building'",
        (generation,),
    )


def drop_generation(connection: psycopg.Connection, generation: int) -> None:
    """Drop a generation that is not live; the connection is in autocommit mode."""
    ddl.drop_partitions(connection, generation)
    connection.execute(
        f"DELETE FROM {ddl.SCHEMA}.ledger_head WHERE generation = %s AND state <> 'live'",
        (generation,),
    )


def retired_generations(cursor: psycopg.Cursor, *, before: Micros) -> Sequence[int]:
    """Return the generations retired before a moment."""
    rows = cursor.execute(
        f"SELECT generation FROM {ddl.SCHEMA}.ledger_head"
        " WHERE state = 'retired' AND retired_at < %s ORDER BY generation",
        (before,),
    ).fetchall()
    return [row[0] for row in rows]


def building_generations(cursor: psycopg.Cursor) -> Sequence[int]:
    """Return the generations some rebuild began and did not end, or whose head is lost."""
    rows = cursor.execute(f"SELECT generation, state FROM {ddl.SCHEMA}.ledger_head").fetchall()
    headless = _with_partitions(cursor) - {generation for generation, _ in rows}
    return [generation for generation, state in rows if state == "building"] + sorted(headless)


def _with_partitions(cursor: psycopg.Cursor) -> frozenset[int]:
    """Return the generations that have tables, whatever their heads say."""
    rows = cursor.execute(
        "SELECT DISTINCT substring(relname FROM '_g([0-9]+)$')::int FROM pg_class"
        " WHERE relnamespace = %s::regnamespace AND relkind = 'r' AND relname ~ '_g[0-9]+$'",
        (ddl.SCHEMA,),
    ).fetchall()
    return frozenset(row[0] for row in rows)
