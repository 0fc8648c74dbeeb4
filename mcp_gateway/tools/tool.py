"""A tool as a value: what a host is shown of it, who may call it, and what it does."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from accounts.domain.caller import Caller
from accounts.domain.roles import Action
from accounts.domain.scope import Scope
from mcp_gateway.tools.arguments import Argument, Arguments, schema_of


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Who calls, in which scope, with arguments that were read."""

    caller: Caller
    scope: Scope
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool says: a text for the model and the same as values."""

    text: str
    values: Mapping[str, Any]


Run: TypeAlias = Callable[[ToolCall], Awaitable[ToolAnswer]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    Args:
        action: the right that calling it takes.
        later: arguments of later versions, refused by name.
        output: properties of the answer's values; `error` is added to them.
        renamed: fields of the service that are called otherwise here, for its errors.
    """

    name: str
    title: str
    description: str
    action: Action
    read_only: bool
    destructive: bool
    idempotent: bool
    arguments: tuple[Argument, ...]
    output: Mapping[str, Any]
    run: Run
    later: frozenset[str] = frozenset()
    renamed: Mapping[str, str] | None = None

    def listing(self, *, everything: bool) -> dict[str, Any]:
        """Return the tool as `tools/list` shows it.

        Args:
            everything: the arguments too that are otherwise taken by name alone.
        """
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": schema_of(self.arguments, everything=everything),
            "outputSchema": {
                "type": "object",
                "properties": {**self.output, "error": _ERROR},
                "required": [],
                "additionalProperties": False,
            },
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.read_only,
                "destructiveHint": self.destructive,
                "idempotentHint": self.idempotent,
                "openWorldHint": False,
            },
        }


def texts(description: str) -> dict[str, Any]:
    """Return the schema of a list of texts."""
    return {"type": "array", "description": description, "items": {"type": "string"}}


def text(description: str) -> dict[str, Any]:
    """Return the schema of a text."""
    return {"type": "string", "description": description}


def moment(description: str) -> dict[str, Any]:
    """Return the schema of a moment, which JSON has as a whole number."""
    return {"type": "integer", "description": f"{description} Microseconds since 1970, UTC."}


def closed(description: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has these properties and no other."""
    return {
        "type": "object",
        "description": description,
        "properties": dict(properties),
        "required": [],
        "additionalProperties": False,
    }


_ERROR = closed(
    "Instead of all others, if the call was refused.",
    {
        "code": text("Stable; tells what kind of refusal it is."),
        "message": text("One sentence that says what to change."),
        "field": text("The argument at fault."),
    },
)
