"""Reads episodes from the derived rows: one by id, or a page of those a caller may see."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import psycopg

from ampup_site.kernel.clock import Micros
from memory.domain.ids import EpisodeId
from memory.domain.read_context import ReadContext
from memory.search import ddl
from memory.search.lineage_sql import gone_rows, visible_rows


@dataclass(frozen=True, slots=True)
class StoredEpisode:
    """An episode as the index holds it, with its present ACL.

    Args:
        gone: whether it was forgotten: only where forgotten ones were asked for.
    """

    rid: int
    episode_id: EpisodeId
    source: str
    episode_type: str
    document: str | None
    occurred_at: Micros
    recorded_at: Micros
    author: str | None
    about: tuple[str, ...]
    tags: tuple[str, ...]
    meta: str | None
    acl: tuple[str, ...]
    gone: bool = False


@dataclass(frozen=True, slots=True)
class EpisodeFilters:
    """Which episodes a list shows.

    Args:
        source_prefix: how the source begins.
        tags: all of them.
        occurred_from, occurred_to: a half-open window.
    """

    episode_type: str | None = None
    source_prefix: str | None = None
    tags: tuple[str, ...] = ()
    about: str | None = None
    document: str | None = None
    occurred_from: Micros | None = None
    occurred_to: Micros | None = None
    newest_first: bool = True


_COLUMNS: Final = f"""
held.rid, held.episode_id, held.source, held.episode_type, held.document, held.occurred_at,
held.recorded_at, held.author, held.about, held.tags, held.meta,
(SELECT sets.entries FROM {ddl.SCHEMA}.acl_sets AS sets
 WHERE sets.generation = %(generation)s AND sets.acl_set_id = coalesce(
     (SELECT present.acl_set_id FROM {ddl.SCHEMA}.acl_current AS present
      WHERE present.generation = %(generation)s AND present.scope_id = %(scope_id)s
        AND present.rid = held.rid), held.acl_set_id))
"""


def find_episode(
    cursor: psycopg.Cursor, context: ReadContext, episode_id: EpisodeId, *, gone_too: bool = False
) -> StoredEpisode | None:
    """Return an episode the caller may see, or None as for a missing one.

    Args:
        gone_too: a forgotten one as well, marked as gone; only to recognise a repeated forget.
    """
    if context.scope_id is None:
        return None
    seen = visible_rows(context, "held", gone_too=gone_too)
    gone = gone_rows(context, "held", seen.params) if gone_too else "false"
    row = cursor.execute(
        f"SELECT {_COLUMNS}, {gone} FROM {ddl.SCHEMA}.episode_rows AS held"
        f" WHERE held.episode_id = %(episode_id)s AND {seen.sql}"
        " ORDER BY held.rid DESC LIMIT 1",
        seen.params | {"episode_id": bytes.fromhex(episode_id)},
    ).fetchone()
    return _stored(row) if row else None


def find_body(cursor: psycopg.Cursor, context: ReadContext, rid: int) -> str:
    """Return the body of a row that `find_episode` returned: its passages put together."""
    row = cursor.execute(
        f"SELECT string_agg(text, '' ORDER BY n) FROM {ddl.SCHEMA}.passages"
        " WHERE generation = %(generation)s AND scope_id = %(scope_id)s AND rid = %(rid)s",
        {"generation": context.generation, "scope_id": context.scope_id, "rid": rid},
    ).fetchone()
    return str(row[0]) if row and row[0] is not None else ""


def find_titles(
    cursor: psycopg.Cursor, context: ReadContext, rids: Sequence[int], *, length: int
) -> dict[int, str]:
    """Return the first characters of the first passage of each row."""
    rows = cursor.execute(
        f"SELECT rid, left(text, %(length)s) FROM {ddl.SCHEMA}.passages"
        " WHERE generation = %(generation)s AND scope_id = %(scope_id)s"
        " AND rid = ANY(%(rids)s) AND n = 1",
        {
            "generation": context.generation,
            "scope_id": context.scope_id,
            "rids": list(rids),
            "length": length,
        },
    ).fetchall()
    return dict(rows)


def list_episodes(
    cursor: psycopg.Cursor,
    context: ReadContext,
    filters: EpisodeFilters,
    *,
    after: tuple[int, bytes] | None,
    limit: int,
) -> tuple[StoredEpisode, ...]:
    """Return a page in order of (occurred_at, episode_id), newest or oldest first.

    Args:
        after: the (occurred_at, episode_id) of the last episode of the page before.
    """
    if context.scope_id is None:
        return ()
    seen = visible_rows(context, "held")
    conditions, params = [seen.sql], seen.params
    for condition, name, value in filter_conditions(filters):
        conditions.append(condition)
        params[name] = value
    order, comparison = ("DESC", "<") if filters.newest_first else ("ASC", ">")
    if after is not None:
        conditions.append(
            f"(held.occurred_at, held.episode_id) {comparison} (%(after_time)s, %(after_id)s)"
        )
        params |= {"after_time": after[0], "after_id": after[1]}
    rows = cursor.execute(
        f"SELECT {_COLUMNS}, false FROM {ddl.SCHEMA}.episode_rows AS held"
        f" WHERE {' AND '.join(conditions)}"
        f" ORDER BY held.occurred_at {order}, held.episode_id {order} LIMIT %(limit)s",
        params | {"limit": limit},
    ).fetchall()
    return tuple(_stored(row) for row in rows)


def filter_conditions(filters: EpisodeFilters) -> list[tuple[str, str, object]]:
    """Return conditions on `held` with a parameter each: (condition, parameter, value)."""
    candidates: list[tuple[str, str, object]] = [
        ("held.episode_type = %(episode_type)s", "episode_type", filters.episode_type),
        (
            "starts_with(held.source, %(source_prefix)s)",
            "source_prefix",
            filters.source_prefix,
        ),
        ("held.tags @> %(tags)s::text[]", "tags", list(filters.tags) or None),
        ("%(about)s = ANY(held.about)", "about", filters.about),
        ("held.document = %(document)s", "document", filters.document),
        ("held.occurred_at >= %(occurred_from)s", "occurred_from", filters.occurred_from),
        ("held.occurred_at < %(occurred_to)s", "occurred_to", filters.occurred_to),
    ]
    return [item for item in candidates if item[2] is not None]


def _stored(row: tuple[Any, ...]) -> StoredEpisode:
    (rid, episode_id, source, kind, document, occurred, recorded, author, *rest) = row
    about, tags, meta, acl, gone = rest
    return StoredEpisode(
        rid=rid,
        episode_id=EpisodeId(bytes(episode_id).hex()),
        source=str(source),
        episode_type=str(kind),
        document=document,
        occurred_at=occurred,
        recorded_at=recorded,
        author=author,
        about=tuple(about),
        tags=tuple(tags),
        meta=meta,
        acl=tuple(acl),
        gone=bool(gone),
    )
