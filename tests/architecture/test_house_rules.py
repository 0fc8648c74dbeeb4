"""Rules of the house that no linter knows."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("ampup_site", "accounts", "memory", "mcp_gateway", "bench", "tests")
MAX_LINES = 500
BANNED = {"manager", "helper", "util", "common", "misc", "handler", "processor", "data", "info"}
TAKEN = {"drf_exception_handler"}
"""The framework's own word for it."""
FOREIGN = re.compile(
    r"(?<![\w.~-])/(?:home|mnt|work)/|shared/(design|spec|cases|seeds|bench)|\bissue \d+\b"
    r"|--index-url|--trusted-host",
    re.IGNORECASE,
)
"""What a reader of the repository cannot know, or what names the machine it was written on."""


@cache
def modules() -> tuple[Path, ...]:
    found = (path for package in PACKAGES for path in (CHECKOUT / package).rglob("*.py"))
    return tuple(sorted(path for path in found if "migrations" not in path.parts))


def place(path: Path) -> str:
    return str(path.relative_to(CHECKOUT))


def test_no_module_is_longer_than_the_limit() -> None:
    """Documented: 500 lines fail the build."""
    long = [place(path) for path in modules() if len(path.read_text().splitlines()) > MAX_LINES]
    assert long == []


def names_of(tree: ast.Module) -> Iterator[str]:
    """Names that a module gives at its top: classes, functions, constants."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def words_of(name: str) -> set[str]:
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")
    return {word.removesuffix("s") if word != "data" else word for word in split}


def test_modules_and_what_they_give_have_no_empty_names() -> None:
    """Ours: a name that fits everything says nothing."""
    found = []
    for path in modules():
        if words_of(path.stem) & BANNED and path.stem != "conftest":
            found.append(place(path))
        if path.is_relative_to(CHECKOUT / "tests"):
            continue
        tree = ast.parse(path.read_text())
        found += [f"{place(path)}: {name}" for name in names_of(tree) if is_empty(name)]
    assert found == []


def is_empty(name: str) -> bool:
    bad = bool(words_of(name) & (BANNED - {"data", "info"})) or name.lower() in BANNED
    return bad and name not in TAKEN


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("there is no git here to ask for the repository's files")
    return [CHECKOUT / name for name in listed.stdout.split("\0") if name]


def test_no_file_names_the_machine_it_was_written_on() -> None:
    """Ours: the repository stands alone."""
    found = []
    for path in tracked():
        if path == Path(__file__) or not path.is_file() or path.stat().st_size > 2**20:
            continue
        text = path.read_text(errors="replace")
        lines = enumerate(text.splitlines(), start=1)
        found += [f"{place(path)}:{number}" for number, line in lines if FOREIGN.search(line)]
    assert found == []


def test_every_test_says_whose_promise_it_keeps() -> None:
    """Ours: a docstring starts with Documented, Ours or Regression."""
    found = []
    for path in modules():
        if not path.name.startswith("test_"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith(
                "test_"
            ):
                said = ast.get_docstring(node) or ""
                if not said.startswith(("Documented:", "Ours:", "Regression:")):
                    found.append(f"{place(path)}: {node.name}")
    assert found == []


def test_requirements_are_pinned_with_hashes_and_name_no_host() -> None:
    """Documented: pinned requirements with hashes."""
    for path in sorted((CHECKOUT / "requirements").glob("*.txt")):
        text = path.read_text()
        assert "--hash=sha256:" in text, path
        assert "://" not in text, path
        assert "--find-links" not in text, path
        pins = [line for line in text.splitlines() if re.match(r"[^\s#-]", line)]
        assert all("==" in line for line in pins), path


def test_the_version_is_the_changelogs_top_entry() -> None:
    """Documented: CHANGELOG's top entry is the version."""
    changelog = (CHECKOUT / "CHANGELOG.md").read_text()
    project = (CHECKOUT / "pyproject.toml").read_text()
    top = re.search(r"^## (\S+)", changelog, re.MULTILINE)
    version = re.search(r'^version = "(.+)"', project, re.MULTILINE)
    assert top is not None
    assert version is not None
    assert version.group(1) == top.group(1)
