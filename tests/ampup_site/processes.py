"""Real processes of the tests: started with words, read line by line, always ended."""

import os
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

CHECKOUT = Path(__file__).resolve().parent.parent.parent

_SHOWN_CHARS = 10_000


def environment(data: Path, **more: str) -> dict[str, str]:
    """The environment of a server on a data folder with an embedded Postgres."""
    ours = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AMPUP_", "DJANGO_", "CELERY_"))
    }
    return {**ours, "AMPUP_MEMORY_DATA_DIR": str(data), "PYTHONUNBUFFERED": "1", **more}


@contextmanager
def running(
    *words: str, env: Mapping[str, str], prefix: tuple[str, ...] = ()
) -> Iterator["subprocess.Popen[str]"]:
    """A process, ended at the end; what fails meanwhile shows what it wrote to stderr.

    That goes into a file: a pipe that nobody reads is full after 64 KiB, and stops who writes.
    """
    with TemporaryFile("w+") as said:
        process = subprocess.Popen(
            [*prefix, sys.executable, *words],
            cwd=CHECKOUT,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )
        try:
            yield process
        except BaseException as error:
            said.seek(0)
            error.add_note(said.read()[-_SHOWN_CHARS:])
            raise
        finally:
            _end(process)


def _end(process: "subprocess.Popen[str]") -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None and not pipe.closed:
            pipe.close()


def next_line(process: "subprocess.Popen[str]", *, secs: float = 60) -> str:
    """The next line of what a process says; one that ended first fails the test."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], secs)
    line = process.stdout.readline() if ready else ""
    if not line:
        raise AssertionError("the process said nothing")
    return line.strip()


def shell(*words: str, env: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run `manage.py` with words to its end."""
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=CHECKOUT,
        env=dict(env),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
