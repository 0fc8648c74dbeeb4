"""Everything a caller can reach, read off the running code and written down nowhere."""

import re
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from typing import Any

from django.core.management import get_commands, load_command_class
from django.urls import URLPattern, URLResolver, get_resolver

from mcp_gateway import methods
from mcp_gateway.eras import LEGACY, MODERN
from mcp_gateway.listing import TOOLS
from tests.memory.api.rest import Rest

OUR_APPS = frozenset({"ampup_site", "accounts", "memory"})
ERAS = {"legacy": LEGACY, "modern": MODERN}


def routes() -> frozenset[str]:
    """Return every `METHOD /path/{name}` that the URL configuration serves.

    Which methods a route offers is asked of the route itself, by one that nobody offers: so it
    does not matter what framework a view was written in.
    """
    asked = {path: _offered(path) for path in {_readable(part) for part in _patterns()}}
    return frozenset(f"{method} {path}" for path, offered in asked.items() for method in offered)


def tools() -> frozenset[str]:
    """Return the name of every tool of MCP."""
    return frozenset(tool.name for tool in TOOLS)


def rpc_methods() -> frozenset[str]:
    """Return `era method` for all that MCP answers, `tools/call` aside: tools have their own."""
    known = {"legacy": methods._LEGACY_METHODS, "modern": methods._MODERN_METHODS}
    return frozenset(f"{era} {name}" for era in ERAS for name in known[era] if name != "tools/call")


def commands() -> frozenset[str]:
    """Return `command` or `command verb` for each of our own commands."""
    ours = sorted(name for name, app in get_commands().items() if app in OUR_APPS)
    return frozenset(spelled for name in ours for spelled in _verbs(name))


def filled(route: str, **values: str) -> str:
    """Return a route's path with its names replaced."""
    return re.sub(r"\{(\w+)\}", lambda match: values[match[1]], route.partition(" ")[2])


def _patterns(resolver: URLResolver | None = None, before: str = "") -> Iterator[str]:
    for entry in (resolver or get_resolver()).url_patterns:
        place = before + str(entry.pattern)
        if isinstance(entry, URLPattern):
            yield place
        else:
            yield from _patterns(entry, place)


def _readable(pattern: str) -> str:
    """Return a pattern of either kind as `/path/{name}`, without its closing slash."""
    path = re.sub(r"\(\?P<(\w+)>[^)]*\)", r"{\1}", pattern)
    path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", path)
    path = path.removesuffix(r"\Z").removesuffix("$").removesuffix("/?").replace("^", "")
    path = path.replace("\\.", ".")
    return "/" + path.strip("/")


def _offered(path: str) -> frozenset[str]:
    answer = Rest().send("BREW", re.sub(r"\{\w+\}", "x", path))
    if path == "/" and answer.status_code == 404:  # ninja's name for where it stands, no route
        return frozenset()
    assert answer.status_code == 405, (path, answer.status_code)
    return frozenset(answer.headers["allow"].split(", ")) - {"OPTIONS"}


def _verbs(name: str) -> Iterator[str]:
    command: Any = load_command_class(get_commands()[name], name)
    parser: ArgumentParser = command.create_parser("ampup-memory", name)
    verbs = [
        verb
        for action in parser._actions
        if isinstance(action, _SubParsersAction)
        for verb in action.choices
    ]
    yield from (f"{name} {verb}" for verb in verbs) if verbs else (name,)
