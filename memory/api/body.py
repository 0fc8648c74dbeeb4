"""A request's JSON to a strict, closed shape: one parse, and every fault named by its place."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, NoReturn, TypeVar

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from ampup_site.kernel.errors import AmpUpError, BadRequest, TooLarge, Validation
from ampup_site.kernel.json_text import is_crowded

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_SHOWN: Final = 60
_MOST_STEPS: Final = 1_000_000
"""Twice the arrays and objects of one body: far above a full batch, and a second to walk."""


class Body(BaseModel):
    """A shape that takes its own fields alone, each in its own JSON type; null is left out.

    `nested` names the shapes of lists, `later` the fields that this version does not serve.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, populate_by_name=True)

    nested: ClassVar[Mapping[str, type["Body"]]] = {}
    later: ClassVar[frozenset[str]] = frozenset()
    malformed: ClassVar[type[AmpUpError]] = BadRequest
    invalid: ClassVar[type[AmpUpError]] = Validation

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the fields as JSON has them."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())


Shape = TypeVar("Shape", bound=Body)


def read_json(request: HttpRequest, *, limit: int) -> object:
    """Return the request's JSON value.

    Raises:
        BadRequest: it is no JSON in UTF-8, names a key twice, or holds text no store keeps.
        TooLarge: it is over `limit` bytes, which is known before anything is parsed.
    """
    if request.content_type != "application/json":
        raise BadRequest("content-type must be application/json.", field="content-type")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise BadRequest("The body must not be compressed.", field="content-encoding")
    content = read_content(request, limit=limit)
    if is_crowded(content):
        raise BadRequest("The body holds too many arrays and objects; send less at once.")
    try:
        value: object = _DECODER.decode(content.decode())
    except (ValueError, RecursionError):
        message = "The body must be JSON in UTF-8, not nested deeply, every number in range."
        raise BadRequest(message) from None
    if b"\\u" in content:
        _refuse_unstorable(value)
    return value


def read_shape(value: object, shape: type[Shape]) -> Shape:
    """Return a JSON value as `shape`.

    Raises:
        AmpUpError: of the shape's class for malformed values: no object, or a field it does not
            know; of its class for invalid ones: a field is missing or of another type.
    """
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        _refuse(error.errors(include_url=False, include_input=False), shape)


def read_content(request: HttpRequest, *, limit: int) -> bytes:
    """Return the request's bytes.

    Raises:
        TooLarge: there are more than `limit`.
    """
    message = f"The body must be at most {limit} bytes; send less at once."
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > limit:
        raise TooLarge(message)
    try:
        content = request.body
    except RequestDataTooBig:
        raise TooLarge(message) from None
    if len(content) > limit:
        raise TooLarge(message)
    return content


def _unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise BadRequest("The body names a key of one object twice; name it once.")
    return fields


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is no number of JSON"
    raise ValueError(message)


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unrepeated, parse_constant=_refuse_constant)


def _refuse_unstorable(value: object) -> None:
    """Refuse a NUL or half a surrogate pair, which only an escape can have brought here."""
    place = _unstorable_place([value])
    if place is not None:
        field = _UNSTORABLE.sub("?", place) or None
        named = f"`{field}`" if field else "The body"
        message = f"{named} must not hold U+0000 or half a surrogate pair; take it out."
        raise BadRequest(message, field=field)


def _unstorable_place(values: list[object]) -> str | None:
    """Return the place of the first text or name that no store keeps, None if there is none.

    A stack of iterators: nesting may be deep, and a list may have millions of items.
    """
    stack = [("", _members(values))]
    for _ in range(_MOST_STEPS):
        if not stack:
            return None
        place, members = stack[-1]
        for key, item in members:
            if isinstance(key, str) and _UNSTORABLE.search(key):
                return place
            if isinstance(item, str) and _UNSTORABLE.search(item):
                return _inside(place, key)
            if item and isinstance(item, dict | list):
                stack.append((_inside(place, key) if len(stack) > 1 else "", _members(item)))
                break
        else:
            stack.pop()
    raise BadRequest("The body holds too many arrays and objects; send less at once.")


def _members(value: Mapping[str, object] | list[object]) -> Iterator[tuple[str | int, object]]:
    return iter(value.items() if isinstance(value, Mapping) else enumerate(value))


def _inside(place: str, key: str | int) -> str:
    if isinstance(key, int):
        return f"{place}[{key}]"
    return f"{place}.{key}" if place else key


def _refuse(faults: Sequence[ErrorDetails], shape: type[Body]) -> NoReturn:
    fault = next((one for one in faults if one["type"] == "extra_forbidden"), faults[0])
    place = _place(fault["loc"])
    if fault["type"] == "extra_forbidden":
        _refuse_unknown(str(fault["loc"][-1]), place, _shape_at(fault["loc"], shape))
    if not place:
        raise shape.malformed("The body must be one JSON object.")
    details: dict[str, Any] = {_place(one["loc"]): one["msg"] for one in faults[:20]}
    message = f"`{place}` cannot be taken: {fault['msg']}."
    raise shape.invalid(message, field=place, detail=details)


def _refuse_unknown(name: str, place: str, shape: type[Body]) -> NoReturn:
    field = place[: _SHOWN * 2]
    if name in shape.later:
        message = f"`{name}` is not served by this version; leave it out."
        raise shape.malformed(message, field=field)
    known = ", ".join(shape.names())
    message = f"{name[:_SHOWN]!a} is no field here; the fields are {known}."
    raise shape.malformed(message, field=field)


def _shape_at(location: Sequence[int | str], shape: type[Body]) -> type[Body]:
    for part in location[:-1]:
        if isinstance(part, str):
            shape = shape.nested.get(part, shape)
    return shape


def _place(location: Sequence[int | str]) -> str:
    """Return a place as callers write it, like `episodes[3].source`.

    The names that pydantic gives the branches of a union are no part of it.
    """
    place = ""
    for part in location:
        if part not in _BRANCHES:
            place = _inside(place, part)
    return place


_BRANCHES: Final = frozenset({"int", "str", "list[str]", "dict[str,json-or-python]"})
