"""Points the catalog at what has landed, by the warehouse alone: after its loss or a restore."""

from dataclasses import dataclass

import psycopg

from ampup_site.kernel.failpoints import reach
from memory.domain.errors import DamagedTable
from memory.tables.catalog import Move, TableKey, drop_pointers, move_pointers, read_pointers
from memory.tables.files import local_path
from memory.tables.landed import find_landed, read_version
from memory.tables.warehouse import LEDGER_KEY, Warehouse


@dataclass(frozen=True, slots=True)
class Recovery:
    """What a recovery did to the catalog, or would do.

    Args:
        from_seq: where the ledger stood that the catalog named; 0 if it named none.
        to_seq: where the ledger stands that has landed.
        unproved: commits at its end that may never have been acknowledged.
        tables: that have landed, the ledger among them.
        moved: tables the catalog named an older version of.
        made: tables the catalog did not name.
        dropped: tables the catalog names and the warehouse does not hold.
        left_out: staged versions of the ledger that have not landed, with the reason.
    """

    from_seq: int
    to_seq: int
    unproved: int
    tables: int
    moved: int
    made: int
    dropped: int
    left_out: tuple[str, ...]


def recover_catalog(
    warehouse: Warehouse, *, dry_run: bool, leave_unproved: bool = False
) -> Recovery:
    """Find what has landed and point the catalog at it, in one transaction under the landing lock.

    Args:
        dry_run: only tell.
        leave_unproved: leave out a last landing that may never have been acknowledged.

    Raises:
        DamagedTable: what has landed is not whole, or the folder is another warehouse's.
    """
    with warehouse.connected() as connection, connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (warehouse.lock_key,))
        held = read_pointers(connection)
        landed = find_landed(warehouse, held, leave_unproved=leave_unproved)
        if held and not landed.pointers:
            message = f"There is no ledger in {warehouse.root}: is it the right folder?"
            raise DamagedTable(message)
        moves = [
            Move(key, before=held.get(key), after=at)
            for key, at in landed.pointers.items()
            if held.get(key) != at
        ]
        dropped = [key for key in held if key not in landed.pointers]
        if not dry_run:
            _point(connection, moves, dropped)
    made = sum(move.before is None for move in moves)
    return Recovery(
        from_seq=_seq_at(held.get(LEDGER_KEY)),
        to_seq=landed.seq,
        unproved=landed.unproved,
        tables=len(landed.pointers),
        moved=len(moves) - made,
        made=made,
        dropped=len(dropped),
        left_out=landed.left_out,
    )


def _point(connection: psycopg.Connection, moves: list[Move], dropped: list[TableKey]) -> None:
    if moves:
        move_pointers(connection, moves)
    drop_pointers(connection, dropped)
    reach("recovery.pointed")


def _seq_at(at: str | None) -> int:
    return 0 if at is None else read_version(local_path(at)).seq
