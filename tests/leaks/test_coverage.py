"""Nothing can be reached that the matrix does not know."""

from pathlib import Path

from mcp_gateway.asgi import PATHS
from tests.leaks import entries, surfaces

CHECKOUT = Path(__file__).resolve().parent.parent.parent


def test_every_route_has_an_entry_and_no_entry_is_stale() -> None:
    """Documented: a route without an entry fails the build."""
    assert surfaces.routes() == set(entries.ROUTES)


def test_every_tool_has_an_entry_and_no_entry_is_stale() -> None:
    """Documented: a tool without an entry fails the build."""
    assert surfaces.tools() == set(entries.TOOLS)


def test_every_method_of_mcp_has_an_entry_and_no_entry_is_stale() -> None:
    """Ours: what MCP answers beside tools is a surface too."""
    assert surfaces.rpc_methods() == set(entries.RPC)
    assert {"/mcp", "/mcp/", "/mcp/hook", "/mcp/hook/"} == PATHS


def test_every_command_has_an_entry_and_no_entry_is_stale() -> None:
    """Documented: a command without an entry fails the build."""
    assert surfaces.commands() == set(entries.COMMANDS)


def test_a_command_that_is_run_elsewhere_is_run_there() -> None:
    """Ours: an exemption names the test that stands in for it."""
    for name, shell in entries.COMMANDS.items():
        if shell.elsewhere is not None:
            text = (CHECKOUT / shell.elsewhere).read_text()
            assert f'"{name}"' in text, name
