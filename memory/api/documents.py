"""What /openapi.json says about a route: its parameters, its body, its answers."""

from collections.abc import Mapping
from typing import Any, Final

from memory.api.answer_schemas import Schema
from memory.api.body import Body

_SCOPE: Final = (
    ("org", "The org whose memory is meant; the key's own or the default one without."),
    ("team", "A team of that org."),
    ("scope", "`mine`, or a scope's spelling like team:acme/sales."),
)

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


def writes(
    *shapes: type[Body], answer: Schema, accepted: Schema | None = None, required: bool = True
) -> dict[str, Any]:
    """Return what documents an operation with a body, from the shapes that read it.

    Args:
        shapes: the body is one of them.
        accepted: the answer where the work goes on after it.
        required: whether there must be a body.
    """
    schemas = [_inlined(shape.model_json_schema(by_alias=True)) for shape in shapes]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    content = {"application/json": {"schema": schema}}
    documented = reads(answer)
    if accepted is not None:
        documented["responses"][202] = _answered("Accepted; it goes on as a job.", accepted)
    return {"requestBody": {"required": required, "content": content}, **documented}


def reads(answer: Schema, **own: str) -> dict[str, Any]:
    """Return what documents an operation without a body.

    Args:
        own: the route's own parameters, with what they mean.
    """
    return {
        "parameters": [
            {
                "name": name,
                "in": "query",
                "required": False,
                "description": meaning,
                "schema": {"type": "string"},
            }
            for name, meaning in (*_SCOPE, *own.items())
        ],
        "responses": {200: _answered("Done.", answer), **_REFUSALS},
    }


def _answered(meaning: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": meaning, "content": {"application/json": {"schema": dict(schema)}}}


_REFUSALS: Final = {
    "4XX": _answered("Refused; nothing was changed.", _ERROR),
    "503": _answered("Not now; the same call may be sent again after Retry-After.", _ERROR),
}


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
