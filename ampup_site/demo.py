"""The five-minute tour as a program: serve, load the samples, ask three questions over MCP.

Run by `make demo`, on a data folder of its own that is removed at the end. It leaves with 1 if
an answer does not come from the source it should come from.
"""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mcp import Client

_CHECKOUT: Final = Path(__file__).resolve().parent.parent
_SAMPLES: Final = _CHECKOUT / "samples"
_SHELL: Final = (sys.executable, "-m", "ampup_site.shell")
_LOADS: Final = (_SAMPLES / "meetings", _SAMPLES / "notes")
_SHOWN: Final = 3
_CHARS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Question:
    """A question and where its answer stands."""

    text: str
    source: str


def main() -> int:
    """Run the tour; return the exit code."""
    data = Path(tempfile.mkdtemp(prefix="ampup-demo-"))
    environment = {
        **os.environ,
        "AMPUP_MEMORY_DATA_DIR": str(data),
        "AMPUP_MEMORY_LOG_LEVEL": "WARNING",
    }
    try:
        with _server(environment) as url:
            for folder in _LOADS:
                _say(f"\n$ ampup-memory load {folder.relative_to(_CHECKOUT)}")
                words = (*_SHELL, "load", str(folder))
                subprocess.run(words, env=environment, check=True)  # noqa: S603 -- ours
            wrong = asyncio.run(_ask_all(f"{url}/mcp"))
    finally:
        shutil.rmtree(data, ignore_errors=True)
    if wrong:
        _say(f"\n{wrong} of the answers came from the wrong source.")
        return 1
    _say("\nEvery answer came from the source it should come from. Now try: make serve")
    return 0


@contextmanager
def _server(environment: Mapping[str, str]) -> Iterator[str]:
    """Run a server on a free port; yields its address."""
    _say("$ ampup-memory serve --local")
    process = subprocess.Popen(  # noqa: S603 -- our own words
        (*_SHELL, "serve", "--local", "--port", "0"),
        env=dict(environment),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield _address(process)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


def _address(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None  # noqa: S101 -- it is a pipe
    for line in process.stdout:
        _say(line.rstrip())
        for word in line.split():
            if word.startswith("http://"):
                return word.rstrip(".,/")
    message = "the server ended before it was ready"
    raise RuntimeError(message)


async def _ask_all(url: str) -> int:
    """Ask the questions; return how many answers came from elsewhere."""
    listed = json.loads((_SAMPLES / "questions.json").read_text())
    questions = [Question(item["question"], item["expect_source"]) for item in listed]
    wrong = 0
    async with Client(url) as client:
        for question in questions:
            _say(f"\nsearch_memory: {question.text}")
            answer = await client.call_tool(
                "search_memory", {"query": question.text, "k": _SHOWN, "max_chars": _CHARS}
            )
            _say(textwrap.indent(_text(answer), "  "))
            if question.source not in _sources(answer):
                _say(f"  expected {question.source}")
                wrong += 1
    return wrong


def _text(answer: Any) -> str:
    return "\n".join(block.text for block in answer.content if block.type == "text")


def _sources(answer: Any) -> list[str]:
    found = (answer.structured_content or {}).get("passages", [])
    return [passage["source"] for passage in found]


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
