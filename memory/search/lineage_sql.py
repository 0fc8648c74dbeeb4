"""Turns a ReadContext into SQL: the only place that says which index rows a read may see."""

from dataclasses import dataclass

from memory.domain.lineage import Lineage
from memory.domain.read_context import ReadContext
from memory.search import ddl
from memory.search.packing import int_array


@dataclass(frozen=True, slots=True)
class Predicate:
    """An SQL condition with named parameters."""

    sql: str
    params: dict[str, object]


def lineage_condition(alias: str, lineage: Lineage, params: dict[str, object]) -> str:
    """Return the condition that a row of `alias` stands on the lineage; adds its parameters."""
    pieces = []
    for number, piece in enumerate(lineage):
        params |= {
            f"branch{number}": piece.branch_id,
            f"from{number}": piece.from_seq,
            f"to{number}": piece.to_seq,
        }
        pieces.append(
            f"({alias}.branch_id = %(branch{number})s"
            f" AND {alias}.seq BETWEEN %(from{number})s AND %(to{number})s)"
        )
    return f"({' OR '.join(pieces)})" if pieces else "false"


def visible_rows(context: ReadContext, alias: str, *, gone_too: bool = False) -> Predicate:
    """Return the condition that the caller may see a row of `alias`, rights as they are now.

    The table of `alias` has generation, scope_id, branch_id, seq, rid and acl_set_id. It holds
    for rows of the scope on the lineage that nothing on the lineage made gone, and whose
    present ACL set the caller sees.

    Args:
        gone_too: rows that were forgotten as well: only to recognise a repeated forget.
    """
    params: dict[str, object] = {
        "generation": context.generation,
        "scope_id": context.scope_id,
    }
    sql = (
        f"{alias}.generation = %(generation)s AND {alias}.scope_id = %(scope_id)s"
        f" AND {lineage_condition(alias, context.lineage, params)}"
    )
    if not gone_too:
        sql += f" AND NOT {gone_rows(context, alias, params)}"
    if context.visible is not None:
        params["visible"] = int_array(context.visible)
        sql += f" AND {_present_set(context, alias)} = ANY(%(visible)s::int[])"
    return Predicate(sql, params)


def gone_rows(context: ReadContext, alias: str, params: dict[str, object]) -> str:
    """Return the condition that something on the lineage made a row of `alias` gone."""
    return (
        f"EXISTS (SELECT 1 FROM {ddl.SCHEMA}.gone AS gone"
        " WHERE gone.generation = %(generation)s AND gone.scope_id = %(scope_id)s"
        f" AND gone.rid = {alias}.rid"
        f" AND {lineage_condition('gone', context.lineage, params)})"
    )


def _present_set(context: ReadContext, alias: str) -> str:
    """Return the row's present ACL set: the amended one first; a scope without any skips it."""
    if not context.amended:
        return f"{alias}.acl_set_id"
    return (
        f"coalesce((SELECT present.acl_set_id FROM {ddl.SCHEMA}.acl_current AS present"
        " WHERE present.generation = %(generation)s AND present.scope_id = %(scope_id)s"
        f" AND present.rid = {alias}.rid), {alias}.acl_set_id)"
    )
