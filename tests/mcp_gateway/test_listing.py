"""What hosts are shown: a golden file a role, and schemas that every host's validator takes."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp_types import methods

from accounts.domain.caller import Caller
from accounts.domain.roles import Role
from mcp_gateway.eras import LEGACY
from mcp_gateway.instructions import instructions_for
from mcp_gateway.listing import TOOLS, Catalogue

GOLDEN = Path(__file__).parent / "golden"
_SCHEMA_WORDS = {
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "description",
    "additionalProperties",
}


def _listed(role: Role, *names: str) -> list[dict[str, Any]]:
    caller = Caller(author="key:AbCd1234", role=role)
    return Catalogue(names=names).listed_for(caller, only_reads=False)


@pytest.mark.parametrize(
    ("name", "role", "names"),
    [
        ("reader", Role.READER, ()),
        ("ingest", Role.INGEST, ()),
        ("recorder", Role.RECORDER, ()),
        ("service", Role.SERVICE, ()),
        ("service-all", Role.SERVICE, ("all",)),
        ("service-some", Role.SERVICE, ("get_episode", "no_such")),
    ],
)
def test_what_a_role_is_shown_changes_only_on_purpose(
    name: str, role: Role, names: tuple[str, ...]
) -> None:
    """Ours: the listing is a contract; delete a golden file and run again to renew it."""
    listed = _listed(role, *names)
    offered = instructions_for(tool["name"] for tool in listed)
    shown = json.dumps({"instructions": offered, "tools": listed}, indent=1, ensure_ascii=False)
    path = GOLDEN / f"tools-{name}.json"
    if not path.exists():
        path.write_text(shown + "\n")
        pytest.fail(f"{path.name} was missing and is written anew; look at it and keep it")
    assert shown + "\n" == path.read_text()


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("names", [(), ("all",)])
def test_schemas_are_flat_closed_and_portable(role: Role, names: tuple[str, ...]) -> None:
    """Documented: what strict validators and the narrowest hosts take (cases 68, 69)."""
    for tool in _listed(role, *names):
        assert list(_faults(tool["inputSchema"], "$", 1)) == []
        # What comes out is no model's to fill in, so one level more does no harm there.
        assert list(_faults(tool["outputSchema"], "$", 0)) == []
        methods.validate_server_result("tools/list", LEGACY[0], {"tools": [tool]})


def test_every_tool_says_whether_it_only_reads() -> None:
    """Documented: every tool states its annotations; writes say whether they destroy."""
    hints = {
        tool["name"]: tuple(
            tool["annotations"][f"{hint}Hint"]
            for hint in ("readOnly", "destructive", "idempotent", "openWorld")
        )
        for tool in _listed(Role.SERVICE)
    }
    assert hints == {
        "search_memory": (True, False, True, False),
        "get_episode": (True, False, True, False),
        "remember_memory": (False, False, True, False),
    }
    assert [tool.name for tool in TOOLS] == list(hints)


def _faults(schema: Mapping[str, Any], place: str, depth: int) -> Iterator[str]:
    """Yield what a host's validator could refuse."""
    if unknown := set(schema) - _SCHEMA_WORDS:
        yield f"{place}: {sorted(unknown)}"
    if not isinstance(schema.get("type"), str):
        yield f"{place}: no single type"
    if depth > 4:
        yield f"{place}: too deep"
    if schema.get("enum") is not None and not all(isinstance(v, str) for v in schema["enum"]):
        yield f"{place}: an enum of other things than texts"
    if place != "$" and not schema.get("description") and not place.endswith("[]"):
        yield f"{place}: undescribed"
    yield from _inner_faults(schema, place, depth)


def _inner_faults(schema: Mapping[str, Any], place: str, depth: int) -> Iterator[str]:
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            yield f"{place}: open"
        if not set(schema.get("required", ["?"])) <= set(schema.get("properties", ())):
            yield f"{place}: required is missing or names no property"
        for name, inner in schema["properties"].items():
            yield from _faults(inner, f"{place}.{name}", depth + 1)
    if schema.get("type") == "array":
        if not schema.get("items"):
            yield f"{place}: untyped items"
        else:
            yield from _faults(schema["items"], f"{place}[]", depth + 1)
