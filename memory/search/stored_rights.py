"""Compares the stored bitmaps, which decide who sees what, with the ACL sets they stand for."""

from collections import defaultdict
from collections.abc import Iterator

import psycopg

from memory.search import ddl
from memory.visibility.bitmaps import union


def wrong_bitmaps(cursor: psycopg.Cursor, *, generation: int) -> Iterator[tuple[int, str]]:
    """Yield (scope, entry) of bitmaps that let an entry see more, or less, than its ACL sets.

    A bitmap may hold sets that no row has any more, but none without its entry, and none of
    those that rows have may be missing.
    """
    entries = _entries(cursor, generation)
    granting = defaultdict[str, set[int]](set)
    for number, names in entries.items():
        for name in names:
            granting[name].add(number)
    needed = defaultdict[tuple[int, str], set[int]](set)
    for scope_id, number in _used(cursor, generation):
        for name in entries.get(number, ()):
            needed[(scope_id, name)].add(number)
    cursor.execute(
        f"SELECT scope_id, entry, bitmap FROM {ddl.SCHEMA}.acl_bitmaps WHERE generation = %s",
        (generation,),
    )
    for scope_id, name, bitmap in cursor.fetchall():
        held = set(union([bytes(bitmap)]))
        missing = needed.pop((scope_id, name), set()) - held
        if missing or held - granting[name]:
            yield scope_id, name
    yield from needed


def _entries(cursor: psycopg.Cursor, generation: int) -> dict[int, list[str]]:
    cursor.execute(
        f"SELECT acl_set_id, entries FROM {ddl.SCHEMA}.acl_sets WHERE generation = %s",
        (generation,),
    )
    return dict(cursor.fetchall())


def _used(cursor: psycopg.Cursor, generation: int) -> list[tuple[int, int]]:
    """Return the (scope, ACL set) that rows have, by landing or by amendment."""
    cursor.execute(
        f"SELECT scope_id, acl_set_id FROM {ddl.SCHEMA}.episode_rows WHERE generation = %s"
        f" UNION SELECT scope_id, acl_set_id FROM {ddl.SCHEMA}.acl_current WHERE generation = %s",
        (generation, generation),
    )
    return cursor.fetchall()
