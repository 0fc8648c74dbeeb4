"""What /openapi.json says about a route: its parameters, its body, its answers."""

from typing import Any, Final

from ampup_site.kernel.openapi import REFUSALS, answered, body, parameters
from memory.api.answer_schemas import Schema
from memory.api.body import Body

_SCOPE: Final = {
    "org": "The org whose memory is meant; the key's own or the default one without.",
    "team": "A team of that org.",
    "scope": "`mine`, or a scope's spelling like team:acme/sales.",
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
    schemas = [shape.model_json_schema(by_alias=True) for shape in shapes]
    documented = reads(answer)
    if accepted is not None:
        documented["responses"][202] = answered("Accepted; it goes on as a job.", accepted)
    return {"requestBody": body(schemas, required=required), **documented}


def reads(answer: Schema, **own: str) -> dict[str, Any]:
    """Return what documents an operation without a body.

    Args:
        own: the route's own parameters, with what they mean.
    """
    return {
        "parameters": parameters({**_SCOPE, **own}),
        "responses": {200: answered("Done.", answer), **REFUSALS},
    }
