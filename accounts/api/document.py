"""What /openapi.json says about orgs, teams and keys."""

from typing import Any, Final

from accounts.api.body import Body
from accounts.api.keys import KeyIn
from accounts.api.orgs import OrgIn, TeamIn
from accounts.domain.roles import Role
from ampup_site.kernel.openapi import REFUSALS, answered, body, parameters

_TEXT: Final = {"type": "string"}
_MOMENT: Final = {"type": "integer", "description": "Microseconds since 1970, UTC."}
_TEXTS: Final = {"type": "array", "items": _TEXT}
_ORG: Final = {"org": "The org that is meant; the key's own or the default one without."}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


_KEY: Final = {
    "id": _TEXT,
    "role": {"enum": [role.value for role in Role]},
    "org": _or_null(_TEXT),
    "team": _or_null(_TEXT),
    "personal": _or_null(_TEXT),
    "groups": _TEXTS,
    "roles": _TEXTS,
    "default_acl": _or_null(_TEXTS),
    "toolset": _TEXT,
    "label": _TEXT,
    "created_by": _TEXT,
    "created_at": _MOMENT,
    "expires_at": _or_null(_MOMENT),
    "revoked_at": _or_null(_MOMENT),
    "last_used_at": _or_null(_MOMENT),
}
_MADE_KEY: Final = {"key": {**_TEXT, "description": "Its text, shown this once."}, **_KEY}
_PAGE: Final = {
    "results": {"type": "array", "items": _object(_KEY)},
    "next_cursor": _or_null(_TEXT),
}


def paths() -> dict[str, dict[str, Any]]:
    """Return the operations of this app by path and method."""
    page = {**_ORG, "k": "How many at most, 1 to 200.", "cursor": "Where the last page ended."}
    revoke = _operation("Revoke a key", _KEY, query=_ORG)
    revoke["parameters"] += parameters({"public_id": "The key's id."}, place="path")
    return {
        "/orgs": {"post": _made("Make an org", OrgIn, {"org": _TEXT, "created_at": _MOMENT})},
        "/teams": {
            "post": _made(
                "Make a team of an org",
                TeamIn,
                {"org": _TEXT, "team": _TEXT, "created_at": _MOMENT},
                query=_ORG,
            )
        },
        "/keys": {
            "post": _made("Make a key", KeyIn, _MADE_KEY, query=_ORG),
            "get": _operation("List the keys that the caller administers", _PAGE, query=page),
        },
        "/keys/{public_id}": {"delete": revoke},
    }


def _made(
    summary: str,
    shape: type[Body],
    answer: dict[str, Any],
    *,
    query: dict[str, str] | None = None,
) -> dict[str, Any]:
    operation = _operation(summary, answer, query=query, status="201")
    return {**operation, "requestBody": body([shape.model_json_schema()])}


def _operation(
    summary: str,
    answer: dict[str, Any],
    *,
    query: dict[str, str] | None = None,
    status: str = "200",
) -> dict[str, Any]:
    return {
        "operationId": summary.lower().replace(" ", "_"),
        "summary": summary,
        "tags": ["accounts"],
        "parameters": parameters(query or {}),
        "responses": {status: answered("Done.", _object(answer)), **REFUSALS},
    }
