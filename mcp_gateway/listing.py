"""Which tools a caller may call, and which of them are listed.

Source: specification, section 14.2; rights are `accounts`', the listing never widens them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from accounts.domain.caller import Caller
from accounts.domain.roles import allows
from mcp_gateway.tools.get_episode import GET_EPISODE
from mcp_gateway.tools.remember_memory import REMEMBER_MEMORY
from mcp_gateway.tools.search_memory import SEARCH_MEMORY
from mcp_gateway.tools.tool import Tool

TOOLS: Final = (SEARCH_MEMORY, GET_EPISODE, REMEMBER_MEMORY)
"""In the order they are listed in, always."""

_EVERYTHING: Final = "all"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The tools of a server.

    Args:
        names: what the operator lists: nothing for the default, `all`, or names.
    """

    tools: tuple[Tool, ...] = TOOLS
    names: Sequence[str] = ()

    def callable_by(self, caller: Caller) -> Mapping[str, Tool]:
        """Return the tools a caller may call, by name, in the order of the listing."""
        return {tool.name: tool for tool in self.tools if allows(caller.role, tool.action)}

    def listed_for(self, caller: Caller, *, only_reads: bool) -> list[dict[str, Any]]:
        """Return the tools as they are listed for a caller.

        Args:
            only_reads: under a position or a branch, where nothing is written.
        """
        everything = _EVERYTHING in self.names
        return [
            tool.listing(everything=everything)
            for tool in self.callable_by(caller).values()
            if (tool.read_only or not only_reads)
            and (everything or not self.names or tool.name in self.names)
        ]
