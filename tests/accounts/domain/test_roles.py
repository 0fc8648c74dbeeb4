"""The rights table, cell by cell, and what a caller holds."""

import pytest

from accounts.domain.caller import local_caller
from accounts.domain.roles import RIGHTS, Action, Role, allows, rights_of
from tests.accounts.builders import a_caller, a_person

TABLE = """
right               reader ingest recorder service personal admin local
read                y      n      n        y       y        y     y
remember            n      y      n        y       y        y     y
ingest              n      y      n        y       n        y     y
close               n      n      n        y       y        y     y
advise              y      n      y        y       y        y     y
record              n      n      y        y       y        y     y
keep                n      n      n        n       y        n     n
pin                 y      n      n        y       y        y     y
branch              n      n      n        y       n        y     y
merge               n      n      n        n       n        y     y
amend_acl           n      y      n        y       n        y     y
log                 n      n      n        y       n        y     y
index_status_counts n      n      n        y       n        y     y
at                  n      n      n        n       n        y     y
administer          n      n      n        n       n        y     y
rebuild             n      n      n        n       n        y     y
forget              n      n      n        y       y        y     y
erase               n      n      n        n       n        y     y
jobs                n      y      n        y       n        y     y
"""
HEAD, *ROWS = (line.split() for line in TABLE.strip().splitlines())
CELLS = [
    (Action(row[0]), Role(role), mark == "y")
    for row in ROWS
    for role, mark in zip(HEAD[1:], row[1:], strict=True)
]


@pytest.mark.parametrize(("action", "role", "allowed"), CELLS)
def test_the_rights_table_says_so(action: Action, role: Role, allowed: bool) -> None:
    """Documented: rights by role; forget, erase and jobs are ours, where the table is silent."""
    assert allows(role, action) is allowed


def test_the_table_here_has_every_action_and_role() -> None:
    """Ours: a new action or role needs a row or column in this test."""
    assert {(action, role) for action, role, _ in CELLS} == {(a, r) for a in Action for r in Role}
    assert set(RIGHTS) == set(Action)
    assert rights_of(Role.INGEST) == (
        Action.REMEMBER,
        Action.INGEST,
        Action.AMEND_ACL,
        Action.JOBS,
    )


def test_a_caller_holds_everyone_and_its_own_entries() -> None:
    """Documented: a principal is a user and the groups and roles they hold."""
    caller = a_person("priya", groups=("sales", "emea"), roles=("lead",))
    held = ("*", "user:priya", "group:sales", "group:emea", "role:lead")
    assert (caller.entries(), caller.signature, caller.sees_all) == (held, "priya", False)


def test_only_the_local_caller_sees_everything() -> None:
    """Documented: serve --local has all rights and sees every episode; an admin key does not."""
    local = local_caller()
    assert (local.entries(), local.signature, local.sees_all) == (
        ("*", "role:local"),
        "local",
        True,
    )
    for role in Role:
        assert a_caller(role).sees_all is (role is Role.LOCAL)
    assert a_caller(Role.SERVICE).signature == "service.AbCd1234"
