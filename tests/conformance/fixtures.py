"""Tools with the names the official suite calls: what our real tools do not show by themselves."""

from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import override

from accounts.domain.roles import Action
from ampup_site.kernel.errors import BadRequest
from mcp_gateway.tools.tool import Tool, ToolAnswer, ToolCall

_SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class OpenTool(Tool):
    """A tool whose input schema is none that ours would write."""

    @override
    def listing(self, *, everything: bool) -> dict[str, Any]:
        return {**super(OpenTool, self).listing(everything=everything), "inputSchema": _SCHEMA}


async def _simple(_call: ToolCall) -> ToolAnswer:
    return ToolAnswer(text="This is a simple text response for testing.", values={})


async def _refuse(_call: ToolCall) -> ToolAnswer:
    raise BadRequest("This tool intentionally returns an error for testing.")


def _fixture(kind: type[Tool], name: str, run: Any) -> Tool:
    return kind(
        name=name,
        title=name,
        description="For the conformance suite.",
        action=Action.READ,
        read_only=True,
        destructive=False,
        idempotent=True,
        arguments=(),
        output={},
        run=run,
    )


FIXTURES: Final = (
    _fixture(Tool, "test_simple_text", _simple),
    _fixture(Tool, "test_error_handling", _refuse),
    _fixture(OpenTool, "json_schema_2020_12_tool", _simple),
)
