"""How episodes stand in a generation: what repeats are recognised by and removals point at.

These statements name the generation's own partitions: planning over the partitioned parents
takes longer than the look-ups themselves.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

import psycopg

from memory.domain.acl import Acl
from memory.domain.ids import CommitId, EpisodeId
from memory.domain.landing import EpisodeState, Key
from memory.search import ddl
from memory.search.packing import bytea_array


@dataclass(frozen=True, slots=True)
class Standing:
    """An episode's state on main, and where its rows are.

    Args:
        rids: every row of the episode in the scope, oldest first.
        live_rid: the one that can be read, if any.
    """

    state: EpisodeState
    rids: tuple[int, ...]
    live_rid: int | None


_STANDINGS: Final = """
SELECT wanted.scope_id, held.episode_id, held.rid, made.commit_id,
       coalesce(amended.entries, first.entries), acl_made.commit_id, ended.commit_id
FROM unnest(%(scopes)s::int[], %(episodes)s::text::bytea[]) AS wanted (scope_id, episode_id)
JOIN {schema}.episode_rows_g{generation} AS held
  ON held.scope_id = wanted.scope_id
 AND held.episode_id = wanted.episode_id AND held.branch_id = 0
JOIN {schema}.commits_g{generation} AS made
  ON made.seq = held.seq
JOIN {schema}.acl_sets_g{generation} AS first
  ON first.acl_set_id = held.acl_set_id
LEFT JOIN {schema}.acl_current_g{generation} AS present
  ON present.scope_id = held.scope_id
 AND present.rid = held.rid
LEFT JOIN {schema}.acl_sets_g{generation} AS amended
  ON amended.acl_set_id = present.acl_set_id
LEFT JOIN {schema}.commits_g{generation} AS acl_made
  ON acl_made.seq = present.seq
LEFT JOIN {schema}.gone_g{generation} AS gone
  ON gone.scope_id = held.scope_id AND gone.rid = held.rid
 AND gone.branch_id = 0
LEFT JOIN {schema}.commits_g{generation} AS ended
  ON ended.seq = gone.seq
ORDER BY held.rid
"""


def load_standings(
    cursor: psycopg.Cursor, *, generation: int, keys: Collection[Key], scopes: Mapping[str, int]
) -> dict[Key, Standing]:
    """Read how episodes stand on main; the ones that never lived are missing from the answer."""
    known = [(namespace, episode) for namespace, episode in keys if namespace in scopes]
    if not known:
        return {}
    namespaces = {number: namespace for namespace, number in scopes.items()}
    cursor.execute(
        _STANDINGS.format(schema=ddl.SCHEMA, generation=generation),
        {
            "scopes": [scopes[namespace] for namespace, _ in known],
            "episodes": bytea_array(episode for _, episode in known),
        },
    )
    standings: dict[Key, Standing] = {}
    for scope_id, episode, rid, made, entries, acl_made, ended in cursor.fetchall():
        key = (namespaces[scope_id], EpisodeId(bytes(episode).hex()))
        earlier = standings.get(key)
        acl_commit = acl_made or (earlier.state.acl_commit_id if earlier else made)
        state = EpisodeState(
            live=ended is None,
            commit_id=CommitId(ended or made),
            acl=Acl(tuple(entries)),
            acl_commit_id=CommitId(acl_commit),
        )
        standings[key] = Standing(
            state=state,
            rids=(*earlier.rids, rid) if earlier else (rid,),
            live_rid=rid if ended is None else None,
        )
    return standings


def known_bodies(
    cursor: psycopg.Cursor, *, generation: int, scope_id: int, sha256s: Collection[str]
) -> frozenset[str]:
    """Return which bodies a scope holds already; hashes are hex."""
    rows = cursor.execute(
        f"SELECT DISTINCT body_sha256 FROM {ddl.SCHEMA}.episode_rows_g{generation}"
        " WHERE scope_id = %s AND body_sha256 = ANY(%s::text::bytea[])",
        (scope_id, bytea_array(sha256s)),
    ).fetchall()
    return frozenset(bytes(row[0]).hex() for row in rows)


def landed_commits(
    cursor: psycopg.Cursor, *, generation: int, commit_ids: Collection[str]
) -> frozenset[str]:
    """Return which of these commits have landed."""
    rows = cursor.execute(
        f"SELECT commit_id FROM {ddl.SCHEMA}.commits_g{generation} WHERE commit_id = ANY(%s)",
        (list(commit_ids),),
    ).fetchall()
    return frozenset(row[0] for row in rows)
