"""Values as Postgres takes them: rows of a COPY in binary, and long arrays.

A column is its length and its bytes, big-endian. The driver makes the same from Python values at
five to ten times the cost, and every row that lands or is rebuilt comes by here.
Source: PostgreSQL, "COPY", "Binary Format".
"""

import struct
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

import psycopg

_BEGIN: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END: Final = b"\xff\xff"
_NULL: Final = b"\xff\xff\xff\xff"
_LENGTH: Final = struct.Struct(">i")
_BIGINT: Final = struct.Struct(">iq")
_TEXT_OID: Final = 25
_NO_ARRAY: Final = struct.pack(">iiI", 0, 0, _TEXT_OID)
_WIDTHS: Final = {"i": 4, "q": 8}


class FixedColumns:
    """The first columns of a row: numbers that are never null."""

    def __init__(self, kinds: str, *, columns: int) -> None:
        """Take a letter a number, `i` int or `q` bigint, and how many columns a row has."""
        self._struct = struct.Struct(">h" + "".join(f"4s{kind}" for kind in kinds))
        self._columns = columns
        self._widths = [_LENGTH.pack(_WIDTHS[kind]) for kind in kinds]

    def pack(self, *values: int) -> bytes:
        """Return the row's beginning.

        Raises:
            struct.error: a number does not fit its column.
        """
        pairs = chain.from_iterable(zip(self._widths, values, strict=True))
        return self._struct.pack(self._columns, *pairs)


def column(value: bytes) -> bytes:
    """Return a column of bytes or of text in UTF-8."""
    return _LENGTH.pack(len(value)) + value


def bigint(value: int) -> bytes:
    """Return a column of a bigint."""
    return _BIGINT.pack(8, value)


def optional_text(value: str | None) -> bytes:
    """Return a column of text that may be null."""
    return _NULL if value is None else column(value.encode())


def text_array(values: Sequence[str]) -> bytes:
    """Return a column of an array of texts."""
    if not values:
        return column(_NO_ARRAY)
    head = struct.pack(">iiIii", 1, 0, _TEXT_OID, len(values), 1)
    return column(head + b"".join([column(value.encode()) for value in values]))


def int_array(values: Iterable[int]) -> str:
    """Return an array of whole numbers as the text that `%s::bigint[]` takes."""
    return "{" + ",".join(map(str, values)) + "}"


def bytea_array(hexes: Iterable[str]) -> str:
    """Return an array of bytea, each given as hex, as the text that `%s::bytea[]` takes."""
    return "{" + ",".join([f'"\\\\x{one}"' for one in hexes]) + "}"


def copy_rows(cursor: psycopg.Cursor, table: str, columns: str, rows: Iterable[bytes]) -> None:
    """Copy packed rows into a table.

    Args:
        columns: names in the order of the rows' columns, comma-separated.
    """
    with cursor.copy(f"COPY {table} ({columns}) FROM STDIN (FORMAT binary)") as copy:
        copy.write(_BEGIN)
        copy.write(b"".join(rows))
        copy.write(_END)
