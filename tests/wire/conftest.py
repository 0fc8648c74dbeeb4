"""Callers over every surface, on one server."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.domain.roles import Role
from mcp_gateway.asgi import build_mcp_app
from memory.engine import Engine
from tests.accounts.builders import a_key
from tests.mcp_gateway.wire import Wire
from tests.memory.api.rest import Rest

Shell = Callable[..., Any]


@pytest.fixture
def key(engine: Engine) -> str:
    """A person of every org."""
    return a_key(Role.PERSONAL, person="priya").text


@pytest.fixture
def priya(key: str) -> Rest:
    """The person over REST."""
    return Rest(key)


@pytest.fixture
def agent(key: str) -> Wire:
    """The person's agent over MCP."""
    return Wire(build_mcp_app(), key)


@pytest.fixture
def service(engine: Engine) -> Rest:
    """A program that reads and ingests."""
    return Rest(a_key(Role.SERVICE).text)


@pytest.fixture
def shell(engine: Engine) -> Shell:
    """The owner's command line: the JSON of a command, None if it was refused."""

    def run(*words: str) -> Any:
        out = io.StringIO()
        try:
            call_command(*words, "--json", stdout=out)
        except CommandError:
            return None
        return json.loads(out.getvalue())

    return run
