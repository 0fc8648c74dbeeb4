"""What /openapi.json says about bodies and parameters, from the shapes that read them."""

from typing import Any, Final

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
_RESPONSES: Final = {
    "4XX": {
        "description": "Refused; nothing was changed.",
        "content": {"application/json": {"schema": _ERROR}},
    },
    "503": {
        "description": "Not now; the same call may be sent again after Retry-After.",
        "content": {"application/json": {"schema": _ERROR}},
    },
}


def json_body(*shapes: type[Body], required: bool = True) -> dict[str, Any]:
    """Return the part of an operation that documents its body, one of `shapes`."""
    schemas = [_inlined(shape.model_json_schema(by_alias=True)) for shape in shapes]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": required, "content": content}, **query_parameters()}


def query_parameters(**own: str) -> dict[str, Any]:
    """Return the part of an operation that documents its query string.

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
        "responses": _RESPONSES,
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
