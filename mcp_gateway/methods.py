"""The protocol's methods: what this server answers to each, in both eras."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, SERVER_INFO_META_KEY

from accounts.api.auth import scope_from
from accounts.domain.caller import Caller
from ampup_site.kernel.errors import AmpUpError, BadRequest
from ampup_site.kernel.version import server_version
from mcp_gateway.eras import MODERN, Era, negotiated
from mcp_gateway.instructions import instructions_for
from mcp_gateway.json_rpc import Params, Refused, shown
from mcp_gateway.render import answer_result, failure_result, refusal_result
from mcp_gateway.request import Request
from mcp_gateway.tools.arguments import read_arguments
from mcp_gateway.tools.tool import Tool, ToolCall
from mcp_gateway.wiring import Gateway

logger = logging.getLogger(__name__)

Result: TypeAlias = dict[str, Any]

_TTL_MS: Final = 60_000
"""How long a list may be kept: rights act on the call itself, so a stale list harms nobody."""

_RESOURCE_NOT_FOUND: Final = -32002
"""Of the legacy era alone; the modern one has retired it."""

_POSITIONS: Final = ("at", "branch")


@dataclass(frozen=True, slots=True)
class Visit:
    """One authenticated request on its way through a method."""

    caller: Caller
    era: Era
    request: Request
    gateway: Gateway
    request_id: str

    @property
    def position(self) -> str | None:
        """The URL parameter that asks for another place than the head of main."""
        return next((name for name in _POSITIONS if name in self.request.query), None)


async def answer(visit: Visit, method: str, params: Params) -> Result:
    """Return the result of a request.

    Raises:
        Refused: the method is unknown in this era, or its params will not do.
    """
    known = _MODERN_METHODS if visit.era.modern else _LEGACY_METHODS
    run = known.get(method)
    if run is None:
        status = 404 if visit.era.modern else 200
        text = f"{shown(method)} is no method of this server."
        raise Refused(METHOD_NOT_FOUND, text, status=status)
    result = await run(visit, params)
    if not visit.era.modern:
        return result
    meta = {SERVER_INFO_META_KEY: _server_info()}
    hints = {"ttlMs": _TTL_MS, "cacheScope": "private"} if method in _CACHEABLE else {}
    return {**result, **hints, "resultType": "complete", "_meta": meta}


async def _initialize(visit: Visit, params: Params) -> Result:
    return {
        "protocolVersion": negotiated(params.get("protocolVersion")),
        "capabilities": _capabilities(),
        "serverInfo": _server_info(),
        "instructions": _instructions(visit),
    }


async def _ping(_visit: Visit, _params: Params) -> Result:
    return {}


async def _discover(visit: Visit, _params: Params) -> Result:
    return {
        "supportedVersions": list(MODERN),
        "capabilities": _capabilities(),
        "instructions": _instructions(visit),
    }


async def _list_tools(visit: Visit, params: Params) -> Result:
    _refuse_cursor(params)
    return {"tools": _listed(visit)}


def _empty_list(name: str) -> "Method":
    async def run(_visit: Visit, params: Params) -> Result:
        _refuse_cursor(params)
        return {name: []}

    return run


async def _read_resource(visit: Visit, params: Params) -> Result:
    uri = params.get("uri")
    if not isinstance(uri, str):
        raise Refused(INVALID_PARAMS, "`uri` must be a text.")
    code = INVALID_PARAMS if visit.era.modern else _RESOURCE_NOT_FOUND
    raise Refused(code, "There is no resource of that URI.", details={"uri": uri})


async def _get_prompt(_visit: Visit, _params: Params) -> Result:
    raise Refused(INVALID_PARAMS, "There is no prompt of that name.")


async def _call_tool(visit: Visit, params: Params) -> Result:
    name, given = params.get("name"), params.get("arguments", {})
    if not isinstance(name, str):
        raise Refused(INVALID_PARAMS, "`name` must be a text.")
    if not isinstance(given, dict):
        raise Refused(INVALID_PARAMS, "`arguments` must be an object.")
    tool = visit.gateway.catalogue.callable_by(visit.caller).get(name)
    if tool is None:
        raise Refused(INVALID_PARAMS, f"Unknown tool: {shown(name)}.")
    try:
        return answer_result(await tool.run(await _tool_call(visit, tool, given)))
    except AmpUpError as error:
        return refusal_result(error, tool)
    except Exception:
        logger.exception("%s: tool %s failed", visit.request_id, tool.name)
        return failure_result(visit.request_id)


async def _tool_call(visit: Visit, tool: Tool, given: Mapping[str, object]) -> ToolCall:
    if visit.position is not None and tool.read_only:
        message = f"`{visit.position}` in the URL is not served by this version; leave it out."
        raise BadRequest(message, field=visit.position)
    arguments = read_arguments(given, tool.arguments, tool=tool.name, later=tool.later)
    scope = scope_from(visit.caller, headers=visit.request.headers, query=visit.request.query)
    return ToolCall(caller=visit.caller, scope=scope, arguments=arguments)


def _listed(visit: Visit) -> list[dict[str, Any]]:
    only_reads = visit.position is not None
    return visit.gateway.catalogue.listed_for(visit.caller, only_reads=only_reads)


def _instructions(visit: Visit) -> str:
    return instructions_for(tool["name"] for tool in _listed(visit))


def _refuse_cursor(params: Params) -> None:
    if params.get("cursor") is not None:
        text = "`cursor` is none of this server's: its lists have one page."
        raise Refused(INVALID_PARAMS, text)


def _capabilities() -> dict[str, Any]:
    """Return what is offered; no `listChanged`, for nothing is announced.

    A server that answers `prompts/list` at all must declare prompts, though it has none yet.
    """
    return {"tools": {}, "prompts": {}}


def _server_info() -> dict[str, str]:
    return {"name": "ampup-memory", "title": "AmpUp Memory", "version": server_version()}


Method: TypeAlias = Callable[[Visit, Params], Awaitable[Result]]

_BOTH: Final[Mapping[str, Method]] = {
    "tools/list": _list_tools,
    "tools/call": _call_tool,
    # Hosts ask for these whatever is advertised; an empty list spares them an error.
    "resources/list": _empty_list("resources"),
    "resources/templates/list": _empty_list("resourceTemplates"),
    "resources/read": _read_resource,
    "prompts/list": _empty_list("prompts"),
    "prompts/get": _get_prompt,
}
_MODERN_METHODS: Final[Mapping[str, Method]] = {**_BOTH, "server/discover": _discover}
_LEGACY_METHODS: Final[Mapping[str, Method]] = {**_BOTH, "initialize": _initialize, "ping": _ping}
_CACHEABLE: Final = frozenset(
    {
        "server/discover",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
    }
)
