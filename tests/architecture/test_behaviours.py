"""Promises and cases name tests that are there."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.behaviours import BEHAVIOURS

TESTS = Path(__file__).resolve().parent.parent
CASES = (TESTS / "cases.md").read_text()
SECTIONS = {
    "A": {1, 2, 5, 7, 8, 9, 10, 11, 14, 15},
    "B": {16, 17, 18, 19, 20},
    "C": {22, 23, 24, 25, 26, 27, 28, 30, 32, 33},
    "D": {35, 36, 37, 38, 39, 40, 42},
    "E": {43, 44, 45, 46, 47, 48, 49},
    "F": {51, 53, 54, 59},
    "G": {60, 61, 63, 65, 68, 69},
    "H": {73, 74, 76, 79, 82},
    "I": {83, 84, 88, 89, 90, 91, 92},
}


@cache
def names_in(place: str) -> frozenset[str]:
    """Return the names of a module's tests, none if there is no such module."""
    path = TESTS / place
    if not path.is_file():
        return frozenset()
    return frozenset(
        node.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    )


def is_there(test: str) -> bool:
    place, _, name = test.partition("::")
    found = names_in(place)
    return name in found if name else bool(found)


def test_every_promise_has_a_test_that_is_there() -> None:
    """Documented: a promise without a test fails the build."""
    assert [behaviour.id for behaviour in BEHAVIOURS if not behaviour.tests] == []
    named = [(behaviour.id, test) for behaviour in BEHAVIOURS for test in behaviour.tests]
    assert [pair for pair in named if not is_there(pair[1])] == []


def test_every_promise_is_told_apart_and_told_whole() -> None:
    """Ours: one id, one sentence, one source."""
    ids = [behaviour.id for behaviour in BEHAVIOURS]
    assert len(set(ids)) == len(ids)
    for behaviour in BEHAVIOURS:
        assert behaviour.says.endswith("."), behaviour.id
        assert "section" in behaviour.source


def rows() -> dict[int, str]:
    """Return each case's line, by its number."""
    found = re.findall(r"^\| (\d+) \|.*$", CASES, re.MULTILINE)
    lines = re.findall(r"^\| \d+ \|.*$", CASES, re.MULTILINE)
    assert len(set(found)) == len(found)
    return dict(zip(map(int, found), lines, strict=True))


def test_every_case_stands_somewhere() -> None:
    """Documented: each case has a test, or the reason why it cannot be met yet."""
    listed = rows()
    assert set(listed) == set().union(*SECTIONS.values())
    for number, line in listed.items():
        tests = re.findall(r"`([\w/]+\.py(?:::\w+)?)`", line)
        assert tests or "later: " in line, number
        assert [test for test in tests if not is_there(test)] == [], number


def test_the_cases_of_text_requests_and_writes_all_have_tests() -> None:
    """Ours: what is left for later in the first sections needs a part that is not built."""
    later = {number for number, line in rows().items() if "`" not in line}
    first = SECTIONS["A"] | SECTIONS["B"] | SECTIONS["C"]
    assert later & first <= {17}
