"""Reads what a ReadContext is made of, in one statement: head, scope and the caller's bitmaps."""

from collections.abc import Sequence
from typing import Final

import psycopg

from ampup_site.kernel.clock import Micros
from memory.domain.lineage import Seq, main_lineage
from memory.domain.read_context import ReadContext
from memory.search import ddl
from memory.search.heads import index_missing
from memory.visibility.bitmaps import union

_CONTEXT: Final = f"""
SELECT head.generation, head.seq, scope.scope_id,
       EXISTS (SELECT 1 FROM {ddl.SCHEMA}.acl_current AS present
               WHERE present.generation = head.generation
                 AND present.scope_id = scope.scope_id),
       (SELECT array_agg(held.bitmap) FROM {ddl.SCHEMA}.acl_bitmaps AS held
        WHERE held.generation = head.generation AND held.scope_id = scope.scope_id
          AND held.entry = ANY(%(entries)s))
FROM {ddl.SCHEMA}.ledger_head AS head
LEFT JOIN {ddl.SCHEMA}.scopes AS scope ON scope.namespace = %(namespace)s
WHERE head.state = 'live'
"""


def read_context(
    cursor: psycopg.Cursor,
    *,
    namespace: str,
    entries: Sequence[str] | None,
    at: Micros,
) -> ReadContext:
    """Return where a read of main stands now and what its caller may see.

    Args:
        entries: the ACL entries the caller holds; None for one who sees every episode.

    Raises:
        IndexBehind: the index has no live generation.
    """
    row = cursor.execute(
        _CONTEXT, {"namespace": namespace, "entries": list(entries or ())}
    ).fetchone()
    if row is None:
        raise index_missing()
    generation, seq, scope_id, amended, bitmaps = row
    return ReadContext(
        namespace=namespace,
        scope_id=scope_id,
        generation=generation,
        lineage=main_lineage(Seq(seq)),
        head=Seq(seq),
        at=at,
        visible=None if entries is None else union(bytes(held) for held in bitmaps or ()),
        amended=amended,
    )
