"""Callers of the MCP application for its tests."""

import pytest
from pytest_django import Settings

from tests.mcp_gateway.wire import Wire, an_app, an_echo


@pytest.fixture
def local(settings: Settings) -> Wire:
    """The owner of a local server, before a tool that touches nothing."""
    settings.AMPUP_LOCAL = True
    return Wire(an_app(an_echo()))
