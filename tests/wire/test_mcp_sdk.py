"""The official Python client against this server, in both eras and as it chooses itself."""

import asyncio

import httpx2
import pytest
from mcp import MCPError
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent
from pytest_django import Settings

from mcp_gateway.eras import LEGACY, MODERN
from tests.mcp_gateway.wire import an_app, an_echo


@pytest.mark.parametrize(
    ("mode", "version"), [("legacy", LEGACY[0]), ("auto", MODERN[0]), (MODERN[0], MODERN[0])]
)
def test_the_official_client_opens_lists_and_calls(
    settings: Settings, mode: str, version: str
) -> None:
    """Documented: both eras on one URL; the client's own choice is the modern one."""
    settings.AMPUP_LOCAL = True

    async def converse() -> None:
        transport = httpx2.ASGITransport(an_app(an_echo()))
        async with httpx2.AsyncClient(transport=transport) as http:
            wire = streamable_http_client("http://127.0.0.1/mcp", http_client=http)
            async with Client(wire, mode=mode) as client:
                assert client.protocol_version == version
                listed = await client.list_tools()
                assert [tool.name for tool in listed.tools] == ["echo"]
                said = await client.call_tool("echo", {"text": "漢字"})
                assert said.is_error is False
                assert said.content == [TextContent(text="漢字")]
                assert said.structured_content == {"said": "漢字", "scope": "org:default"}
                refused = await client.call_tool("echo", {"text": "refuse"})
                assert refused.is_error
                assert refused.structured_content["error"]["field"] == "text"
                with pytest.raises(MCPError) as unknown:
                    await client.call_tool("no_such", {})
                assert unknown.value.error.code == -32602

    asyncio.run(converse())
