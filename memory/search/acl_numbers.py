"""Numbers ACLs inside a generation and keeps the bitmaps that tell who sees which number.

A number is never used again in its generation. What is learned here may be kept between
landings: numbers are only added. What a landing that failed had added is forgotten by `reset`.
"""

import hashlib
from collections.abc import Iterable
from typing import Final

import psycopg

from memory.domain.acl import Acl
from memory.search import ddl
from memory.visibility.bitmaps import with_sets

_LIMIT: Final = 200_000
"""Remembered numbers and uses; above it memory starts afresh rather than grow without bound."""


class AclNumbers:
    """The ACL numbers of one generation, as one writer knows them."""

    def __init__(self, generation: int, *, made: int = 0) -> None:
        self.generation = generation
        self._made = made
        self.next_number = 1
        self._numbers: dict[Acl, int] = {}
        self._used: set[tuple[int, int]] = set()
        self._new: dict[Acl, int] = {}
        self._newly_used: dict[tuple[int, int], None] = {}

    def belong_to(self, *, generation: int, made: int) -> bool:
        """Say whether they are this making's of a generation; others' would grant other sights."""
        return (self.generation, self._made) == (generation, made)

    def learn(self, cursor: psycopg.Cursor, acls: Iterable[Acl], *, next_number: int) -> None:
        """Look up ACLs before they are numbered; `next_number` is the head's."""
        self.next_number = next_number
        if max(len(self._numbers), len(self._used)) > _LIMIT:
            self._numbers.clear()
            self._used.clear()
        unknown = {_key(acl): acl for acl in acls if acl not in self._numbers}
        if not unknown:
            return
        rows = cursor.execute(
            f"SELECT key, acl_set_id FROM {ddl.SCHEMA}.acl_sets"
            " WHERE generation = %s AND key = ANY(%s)",
            (self.generation, list(unknown)),
        ).fetchall()
        for key, number in rows:
            self._numbers[unknown[bytes(key)]] = number

    def number(self, acl: Acl) -> int:
        """Return the ACL's number, a new one if it has none."""
        number = self._numbers.get(acl) or self._new.get(acl)
        if number is None:
            number = self._new[acl] = self.next_number
            self.next_number += 1
        return number

    def use(self, scope_id: int, acl_set_id: int) -> None:
        """Say that rows of the scope carry this number."""
        if (scope_id, acl_set_id) not in self._used:
            self._newly_used[(scope_id, acl_set_id)] = None

    def write(self, cursor: psycopg.Cursor) -> None:
        """Write new numbers and the bitmaps they change."""
        if self._new:
            cursor.executemany(
                f"INSERT INTO {ddl.SCHEMA}.acl_sets_g{self.generation}"
                " (generation, acl_set_id, key, entries) VALUES (%s, %s, %s, %s)",
                [
                    (self.generation, number, _key(acl), list(acl))
                    for acl, number in self._new.items()
                ],
            )
        if self._newly_used:
            self._write_bitmaps(cursor)

    def settle(self) -> None:
        """Keep what was written: the landing has committed."""
        self._numbers |= self._new
        self._used |= self._newly_used.keys()
        self.reset()

    def reset(self) -> None:
        """Forget what was not committed."""
        self._new = {}
        self._newly_used = {}

    def _write_bitmaps(self, cursor: psycopg.Cursor) -> None:
        acls = {number: acl for acl, number in (self._numbers | self._new).items()}
        added: dict[tuple[int, str], list[int]] = {}
        for scope_id, number in self._newly_used:
            for entry in acls[number]:
                added.setdefault((scope_id, entry), []).append(number)
        scope_ids = [scope_id for scope_id, _ in added]
        entries = [entry for _, entry in added]
        rows = cursor.execute(
            f"SELECT scope_id, entry, bitmap FROM {ddl.SCHEMA}.acl_bitmaps"
            " WHERE generation = %s AND (scope_id, entry) IN"
            " (SELECT * FROM unnest(%s::int[], %s::text[]))",
            (self.generation, scope_ids, entries),
        ).fetchall()
        present = {(scope_id, entry): bytes(bitmap) for scope_id, entry, bitmap in rows}
        changed = [
            (self.generation, scope_id, entry, bitmap)
            for (scope_id, entry), numbers in added.items()
            if (bitmap := with_sets(present.get((scope_id, entry)), numbers)) is not None
        ]
        cursor.executemany(
            f"INSERT INTO {ddl.SCHEMA}.acl_bitmaps_g{self.generation}"
            " (generation, scope_id, entry, bitmap) VALUES (%s, %s, %s, %s)"
            " ON CONFLICT (scope_id, entry) DO UPDATE SET bitmap = excluded.bitmap",
            changed,
        )


def _key(acl: Acl) -> bytes:
    return hashlib.sha256("\n".join(acl).encode()).digest()
