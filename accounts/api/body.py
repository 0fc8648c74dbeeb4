"""A JSON body to a strict, closed shape: unknown fields are refused by name."""

import json
from typing import NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from rest_framework.request import Request

from ampup_site.kernel.errors import BadRequest, TooLarge, Validation

_MOST_BYTES = 64 * 1024  # an org, a team or a key is far smaller


class Body(BaseModel):
    """A shape that takes its own fields alone, each in its own JSON type."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


Shape = TypeVar("Shape", bound=Body)


def read_body(request: Request, shape: type[Shape]) -> Shape:
    """Return the request's JSON object as `shape`.

    Raises:
        BadRequest: no JSON object, a repeated key, or a field the shape does not know.
        Validation: a field is missing or of the wrong type; `detail` names each.
        TooLarge: more than 64 KiB.
    """
    if request._request.content_type != "application/json":
        raise BadRequest("content-type must be application/json.", field="content-type")
    content = request._request.body
    if len(content) > _MOST_BYTES:
        raise TooLarge(f"the body must be at most {_MOST_BYTES} bytes.")
    fields, text = _object(content)
    unknown = sorted(set(fields) - set(shape.model_fields))
    if unknown:
        known = ", ".join(shape.model_fields)
        they = f"the fields are {known}" if known else "the body has none"
        name = unknown[0][:60]
        raise BadRequest(f"{name!a} is no field here; {they}.", field=name)
    try:
        # From JSON text again, since strictness forgives arrays for tuples there alone.
        return shape.model_validate_json(text)
    except ValidationError as error:
        _refuse(error)


def refuse_body(request: Request) -> None:
    """Refuse a body where the route takes none; an empty object or null says nothing.

    Raises:
        BadRequest: it has a field, which is named, or is no JSON object.
    """
    content = request._request.body
    if content.strip() not in {b"", b"null"}:
        read_body(request, Body)


def _object(content: bytes) -> tuple[dict[str, object], bytes]:
    """Return the fields and their JSON, which lone surrogates cannot become."""
    try:
        fields = json.loads(content, object_pairs_hook=_unrepeated)
        text = json.dumps(fields, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise BadRequest("the body must be one JSON object in UTF-8.") from error
    if not isinstance(fields, dict):
        raise BadRequest("the body must be one JSON object.")
    return fields, text


def _unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise BadRequest("the body names a key twice; name it once.")
    return fields


def _refuse(error: ValidationError) -> NoReturn:
    faults = {
        ".".join(str(part) for part in fault["loc"]): str(fault["msg"])
        for fault in error.errors(include_input=False, include_url=False)
    }
    field, fault = next(iter(faults.items()))
    raise Validation(f"{field}: {fault}.", field=field, detail={**faults}) from None
