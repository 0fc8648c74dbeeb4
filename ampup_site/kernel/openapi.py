"""The parts of /openapi.json that every operation has: its body's schema, its answers, refusals."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

_TEXT: Final = {"type": "string"}
_ERROR: Final = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {**_TEXT, "description": "Stable; what a client branches on."},
                "message": {**_TEXT, "description": "One sentence that names the remedy."},
                "field": {**_TEXT, "description": "What is at fault."},
                "detail": {"type": "object"},
            },
        }
    },
}


def answered(meaning: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer in JSON."""
    return {"description": meaning, "content": {"application/json": {"schema": dict(schema)}}}


REFUSALS: Final = {
    "4XX": answered("Refused; nothing was changed.", _ERROR),
    "503": answered("Not now; the same call may be sent again after Retry-After.", _ERROR),
}


def parameters(meanings: Mapping[str, str], *, place: str = "query") -> list[dict[str, Any]]:
    """Return parameters, each a text, by name and meaning; those of a path are required."""
    return [
        {
            "name": name,
            "in": place,
            "required": place == "path",
            "description": meaning,
            "schema": _TEXT,
        }
        for name, meaning in meanings.items()
    ]


def body(schemas: Sequence[dict[str, Any]], *, required: bool = True) -> dict[str, Any]:
    """Return a request's body, which is one of some schemas as pydantic makes them."""
    kinds = [_inlined(schema) for schema in schemas]
    schema = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    return {"required": required, "content": {"application/json": {"schema": schema}}}


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    definitions = schema.pop("$defs", {})

    def inline(value: Any) -> Any:
        if isinstance(value, dict):
            if "$ref" in value:
                return inline(definitions[value["$ref"].rpartition("/")[2]])
            return {name: inline(item) for name, item in value.items()}
        return [inline(item) for item in value] if isinstance(value, list) else value

    result: dict[str, Any] = inline(schema)
    return result
