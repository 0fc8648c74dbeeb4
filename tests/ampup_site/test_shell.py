"""The command line: what can be expected to fail ends in one line."""

import errno
import io
import os
import sys
from contextlib import nullcontext
from pathlib import Path

import psycopg
import pytest
from django.core.management.base import BaseCommand
from typing_extensions import override

from ampup_site import shell
from tests.ampup_site.processes import environment
from tests.ampup_site.processes import shell as run_shell


def test_help_lists_each_of_our_commands_with_one_line() -> None:
    """Documented: `--help` lists the commands."""
    lines = shell.overview().splitlines()
    for name in ("serve", "worker", "apikey", "org", "team"):
        (line,) = [line for line in lines if line.startswith(f"  {name} ")]
        assert len(line.split()) > 3


@pytest.mark.parametrize(
    ("words", "variables", "code"),
    [
        (("nope",), {}, 2),
        (("org", "lisst"), {}, 2),
        (("org", "list"), {"AMPUP_MEMORY_THREADS": "many"}, 1),
        (("org", "list"), {"AMPUP_MEMORY_DATABASE_URL": "mysql://a@b/c"}, 1),
        (("org", "list"), {"AMPUP_MEMORY_DATABASE_URL": "postgresql://a@127.0.0.1:1/c"}, 1),
    ],
)
def test_a_refused_start_is_one_line_and_no_traceback(
    words: tuple[str, ...], variables: dict[str, str], code: int, tmp_path: Path
) -> None:
    """Documented: a clear error for a wrong DSN; ours: the same for every wrong word or value."""
    done = run_shell(*words, env=environment(tmp_path / "data", **variables))
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.splitlines()[-1].removeprefix("ampup-memory org: ").startswith("error: ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (psycopg.OperationalError("server closed\nthe connection"), "the database refused: server"),
        (OSError(errno.ENAMETOOLONG, "File name too long", "x"), "File name too long: x"),
    ],
)
def test_an_outage_under_a_command_is_one_line_and_no_traceback(
    failure: Exception,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Regression: connections of our own raise psycopg's errors, which ended in a traceback."""

    class Failing(BaseCommand):
        @override
        def handle(self, *_args: object, **_options: object) -> None:
            raise failure

    monkeypatch.setattr("django.core.management.load_command_class", lambda *_: Failing())
    monkeypatch.setattr("ampup_site.database.database_for_process", lambda **_: nullcontext())
    assert shell.run(["org"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {said}")


def test_help_of_the_whole_needs_no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: asking for help starts nothing."""
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert shell.run(["--help"]) == 0


def test_a_worker_without_a_broker_says_what_it_needs(tmp_path: Path) -> None:
    """Ours: without a broker serve does the work itself, so a lone worker would wait for ever."""
    named = os.environ["AMPUP_MEMORY_DATABASE_URL"]
    env = environment(tmp_path / "data", AMPUP_MEMORY_DATABASE_URL=named)
    done = run_shell("worker", "--skip-migrations", env=env)
    assert done.returncode == 2
    done = run_shell("worker", env=env)
    assert (done.returncode, done.stdout) == (1, "")
    assert "CELERY_BROKER_URL" in done.stderr
