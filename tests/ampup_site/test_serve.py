"""`serve` as a real process: up, at work, down."""

import json
import os
import re
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from ampup_site.postgres.layout import layout_of
from ampup_site.postgres.local import running_pid, stop
from tests.ampup_site.processes import environment, next_line, running, shell

SERVE = ("manage.py", "serve", "--local", "--port", "0")


@contextmanager
def served(data: Path, *words: str, **more: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """A running server: its URL and its process."""
    with running(*SERVE, *words, env=environment(data, **more)) as process:
        said = next_line(process)
        found = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert found is not None, said
        yield found.group(), process


def ask(url: str, body: bytes | None = None, /, **headers: str) -> tuple[int, dict[str, str], Any]:
    if body is not None:
        headers["content-type"] = "application/json"
    request = urllib.request.Request(url, body, headers)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310
            return response.status, dict(response.headers), json.loads(response.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers), json.loads(error.read())


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One data folder for all: a cluster is made once, and a start finds what the last one left."""
    folder = tmp_path_factory.mktemp("served") / "data"
    yield folder
    stop(layout_of(folder))


def test_serve_answers_refuses_a_second_one_and_ends_cleanly_on_a_signal(data: Path) -> None:
    """Documented: web, worker and beat in one process, cleanly up and down on signals."""
    with served(data) as (url, process):
        status, headers, body = ask(f"{url}/healthz", **{"x-request-id": "from-me"})
        assert (status, body["ok"], headers["x-request-id"]) == (200, True, "from-me")
        status, _, body = ask(f"{url}/readyz")
        assert (status, body["ok"]) == (200, True)
        status, _, body = ask(f"{url}/whoami", host="evil.example")
        assert (status, body["error"]["code"]) == (421, "bad_host")
        status, _, body = ask(f"{url}/mcp", host="evil.example")
        assert status in {403, 421}
        second = shell("serve", "--local", "--port", "0", env=environment(data))
        assert (second.returncode, second.stdout) == (1, "")
        assert second.stderr.startswith("error: A server already runs on ")
        assert url in second.stderr
        beside = shell("org", "list", "--json", env=environment(data))
        assert [org["org"] for org in json.loads(beside.stdout)] == ["default"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert running_pid(layout_of(data)) is None


def test_a_killed_server_leaves_a_database_that_the_next_one_adopts(data: Path) -> None:
    """Documented: adopt after SIGKILL."""
    with served(data, "--no-timers") as (_url, process):
        process.kill()
        process.wait(60)
    pid = running_pid(layout_of(data))
    assert pid is not None
    with served(data, "--no-timers") as (url, process):
        assert running_pid(layout_of(data)) == pid
        assert ask(f"{url}/readyz")[0] == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert running_pid(layout_of(data)) is None


def test_a_load_of_a_killed_server_is_taken_up_by_the_next_one_at_once(data: Path) -> None:
    """Regression: it stood still for its dead worker's lease and the sweep after it."""
    draft = {"source": "note:x", "occurred_at": 0, "acl": ["*"]}
    episodes = [{**draft, "body": f"Number {n} is mine."} for n in range(500)]
    body = json.dumps({"episodes": episodes, "background": True}).encode()
    with served(data, "--no-timers", AMPUP_MEMORY_FAILPOINT="load.chunk=kill") as (url, process):
        _, _, promised = ask(f"{url}/episodes", body)
        process.wait(60)
    began = monotonic()
    with served(data, "--no-timers") as (url, process):
        view = ask(f"{url}/jobs/{promised['job']}")[2]
        while view["state"] in {"queued", "running"}:
            assert monotonic() < began + 60
            sleep(0.1)
            view = ask(f"{url}/jobs/{promised['job']}")[2]
        assert (view["state"], view["done"], view["total"]) == ("done", 500, 500)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_a_database_that_dies_under_a_server_is_started_again(data: Path) -> None:
    """Documented: the service resumes by itself."""
    with served(data, "--no-timers") as (url, process):
        assert ask(f"{url}/readyz")[0] == 200
        pid = running_pid(layout_of(data))
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        end = monotonic() + 60
        while running_pid(layout_of(data)) in {pid, None} or ask(f"{url}/readyz")[0] != 200:
            assert monotonic() < end
            sleep(0.1)
        note = json.dumps({"source": "acme", "body": "The renewal is Priya's."}).encode()
        assert ask(f"{url}/remember", note)[0] == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_a_taken_port_and_an_open_address_are_refused_in_one_line(data: Path) -> None:
    """Documented: loopback only; ours: the port in use is named."""
    env = environment(data)
    wide = shell("serve", "--local", "--host", "0.0.0.0", env=env)  # noqa: S104
    assert (wide.returncode, wide.stderr.count("\n")) == (1, 1)
    assert "--local listens on loopback only" in wide.stderr
    with served(data, "--no-timers") as (url, _process):
        port = url.rpartition(":")[2]
        named = layout_of(data).dsn()
        other = environment(data.with_name("other"), AMPUP_MEMORY_DATABASE_URL=named)
        taken = shell("serve", "--local", "--port", port, env=other)
    assert taken.returncode == 1
    assert f"Cannot listen at 127.0.0.1:{port}" in taken.stderr
    assert "Traceback" not in taken.stderr
