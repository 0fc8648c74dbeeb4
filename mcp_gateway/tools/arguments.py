"""A tool's arguments: the flat schema a host is shown, and the strict reading of a call's.

The schemas keep to what every host takes: one type a property, typed items, enums of texts,
closed objects; no union, reference, constant, format, pattern or bound.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias

from ampup_site.kernel.errors import BadRequest
from mcp_gateway.json_rpc import shown
from memory.domain.times import parse_time

Value: TypeAlias = str | int | tuple[str, ...]
Arguments: TypeAlias = Mapping[str, Value]

_MAX_ITEMS: Final = 256  # of a list, before a service counts what it takes


class Kind(Enum):
    """The JSON type of an argument, and how an error calls it."""

    TEXT = ("string", "a text")
    WHOLE = ("integer", "a whole number")
    FLAG = ("boolean", "true or false")
    TEXTS = ("array", "a list of texts")
    TIME = ("string", "an RFC 3339 time with its offset")
    """Shown as a text; microseconds are taken too, as everywhere."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool.

    Args:
        choices: the only texts taken; empty for any.
        low, high: the range of a whole number, which the description must tell.
        listed: False for one that is taken by name, and shown only where everything is.
    """

    name: str
    kind: Kind
    description: str
    required: bool = False
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    listed: bool = True


def schema_of(arguments: Sequence[Argument], *, everything: bool) -> dict[str, Any]:
    """Return the input schema of a tool with these arguments."""
    shown_ones = [argument for argument in arguments if argument.listed or everything]
    return {
        "type": "object",
        "properties": {argument.name: _property(argument) for argument in shown_ones},
        "required": [argument.name for argument in shown_ones if argument.required],
        "additionalProperties": False,
    }


def read_arguments(
    given: Mapping[str, object],
    arguments: Sequence[Argument],
    *,
    tool: str,
    later: frozenset[str] = frozenset(),
) -> Arguments:
    """Return the arguments of a call, each in its type; a null is one that was left out.

    Args:
        later: names that belong to a later version, refused as such.

    Raises:
        BadRequest: a name the tool does not know, or a value that will not do.
    """
    known = {argument.name: argument for argument in arguments}
    for name in given:
        if name in later:
            message = f"`{name}` is not served by this version; leave it out."
            raise BadRequest(message, field=name)
        if name not in known:
            names = ", ".join(known)
            message = f"{shown(name)} is no argument of {tool}; its arguments are {names}."
            raise BadRequest(message, field=name[:60])
    present = {name: value for name, value in given.items() if value is not None}
    for argument in arguments:
        if argument.required and argument.name not in present:
            message = f"`{argument.name}` is missing; it must be {_wanted(argument)}."
            raise BadRequest(message, field=argument.name)
    return {name: _value(known[name], value) for name, value in present.items()}


def _property(argument: Argument) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": argument.kind.value[0],
        "description": argument.description,
    }
    if argument.kind is Kind.TEXTS:
        schema["items"] = {"type": "string"}
    if argument.choices:
        schema["enum"] = list(argument.choices)
    return schema


def _value(argument: Argument, value: object) -> Value:
    read = _READERS[argument.kind](argument, value)
    if "\x00" in "".join(_texts_of(read)):
        message = f"`{argument.name}` must not hold the character U+0000; take it out."
        raise BadRequest(message, field=argument.name)
    if read is None:
        message = f"`{argument.name}` must be {_wanted(argument)}."
        raise BadRequest(message, field=argument.name)
    return read


def _texts_of(read: Value | None) -> tuple[str, ...]:
    if isinstance(read, str):
        return (read,)
    return read if isinstance(read, tuple) else ()


def _text(argument: Argument, value: object) -> Value | None:
    good = isinstance(value, str) and (not argument.choices or value in argument.choices)
    return str(value) if good else None


def _whole(argument: Argument, value: object) -> Value | None:
    """Return a whole number; `5.0` is one, for a schema makes no difference."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if _in_range(argument, value) else None


def _flag(_argument: Argument, value: object) -> Value | None:
    return value if isinstance(value, bool) else None


def _texts(_argument: Argument, value: object) -> Value | None:
    if not isinstance(value, list) or len(value) > _MAX_ITEMS:
        return None
    return tuple(value) if all(isinstance(item, str) for item in value) else None


def _time(argument: Argument, value: object) -> Value | None:
    return parse_time(value, field=argument.name)


def _in_range(argument: Argument, value: int) -> bool:
    low, high = argument.low, argument.high
    return (low is None or value >= low) and (high is None or value <= high)


def _wanted(argument: Argument) -> str:
    if argument.choices:
        return f"one of {', '.join(argument.choices)}"
    if argument.low is not None and argument.high is not None:
        return f"{argument.kind.value[1]} from {argument.low} to {argument.high}"
    return argument.kind.value[1]


_READERS: Final[Mapping[Kind, Callable[[Argument, object], Value | None]]] = {
    Kind.TEXT: _text,
    Kind.WHOLE: _whole,
    Kind.FLAG: _flag,
    Kind.TEXTS: _texts,
    Kind.TIME: _time,
}
