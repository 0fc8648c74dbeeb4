"""A tool's answer or refusal as the result of `tools/call`."""

from typing import Any, Final

from ampup_site.kernel.errors import AmpUpError
from mcp_gateway.tools.tool import Tool, ToolAnswer

INTERNAL: Final = "internal"


def answer_result(answer: ToolAnswer) -> dict[str, Any]:
    """Return the result of a call that was done."""
    return {
        "content": [{"type": "text", "text": answer.text}],
        "structuredContent": dict(answer.values),
        "isError": False,
    }


def refusal_result(error: AmpUpError, tool: Tool) -> dict[str, Any]:
    """Return the result of a call that was refused: one sentence, and its code for machines."""
    field, message = error.field, error.message
    for theirs, ours in (tool.renamed or {}).items():
        message = message.replace(f"`{theirs}`", f"`{ours}`")
        field = ours if field == theirs else field
    if field is not None and field not in message:
        message = f"{field}: {message}"
    return _refusal(error.code, message, field)


def failure_result(request_id: str) -> dict[str, Any]:
    """Return the result of a call that failed for a reason of ours, which the log tells."""
    message = f"The call failed for a reason of the server's; its log has it as {request_id}."
    return _refusal(INTERNAL, message, None)


def _refusal(code: str, message: str, field: str | None) -> dict[str, Any]:
    error = {"code": code, "message": message}
    if field is not None:
        error["field"] = field
    return {
        "content": [{"type": "text", "text": message}],
        "structuredContent": {"error": error},
        "isError": True,
    }
