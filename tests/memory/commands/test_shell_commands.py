"""The shell: remember, search, episode, index, ledger."""

import io
import json
import os
import subprocess
import sys
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from memory.engine import Engine
from tests.accounts.builders import an_org

BODY = "Priya owns the renewal.\n\nSam said \U0001f469\u200d\U0001f467 日本語 and left."


def shell(*words: str) -> str:
    """Return what a command writes."""
    out = io.StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def shell_json(*words: str) -> Any:
    """Return the JSON that a command writes."""
    return json.loads(shell(*words, "--json"))


@pytest.fixture
def kept(engine: Engine) -> str:
    """A note that was remembered from the shell."""
    del engine
    answer = shell_json("remember", "acme", BODY, "--tag", "deal", "--about", "account:acme")
    assert (answer["created"], answer["source"]) == (True, "mcp:remember_memory:local:acme")
    return str(answer["episode_id"])


def test_a_note_is_kept_found_read_listed_and_forgotten(kept: str) -> None:
    """Documented: remember, search and episode do what their routes do."""
    assert shell("remember", "acme", BODY).split() == ["kept", "before", kept]
    found = shell("search", "who owns the renewal")
    assert "Priya owns the renewal." in found
    assert "[e1 p1" in found
    assert kept in found
    found_json = shell_json("search", "renewal", "--tag", "deal", "--source", "mcp:")
    assert found_json["passages"][0]["text"] == BODY
    assert shell_json("search", "renewal", "--tag", "other")["passages"] == []
    assert shell_json("episode", "get", kept)["body"] == BODY
    read = shell("episode", "get", kept, "--units", "2")
    assert "[p2] Sam said" in read
    assert "[p1]" not in read
    listed = shell_json("episode", "list", "--about", "account:acme")
    assert [row["episode_id"] for row in listed["results"]] == [kept]
    assert kept in shell("episode", "list")
    gone = shell_json("episode", "forget", kept, "--reason", "asked to")
    assert gone["forgotten"] is True
    with pytest.raises(CommandError, match="episode"):
        shell("episode", "get", kept)
    assert shell("search", "renewal").strip() == "Nothing found."


def test_an_acl_is_amended_by_compare_and_set(kept: str) -> None:
    """Documented: the expected ACL must be the present one."""
    amended = shell_json("episode", "acl", kept, "--expected", "*", "--set", "group:sales")
    assert amended["acl"] == ["group:sales"]
    with pytest.raises(CommandError):
        shell("episode", "acl", kept, "--expected", "*", "--set", "user:priya")
    assert "acl: group:sales" in shell("episode", "get", kept)


def test_scopes_are_spelled_as_documented_and_isolated(kept: str) -> None:
    """Documented: org, org:<org>, team:<org>/<team>, user:<id>; unknown ones are refused."""
    an_org("acme", "sales")
    for scope in ("org:acme", "team:acme/sales"):
        assert shell_json("search", "renewal", "--scope", scope)["passages"] == []
        assert shell_json("remember", "x", f"In {scope}.", "--scope", scope)["created"]
        texts = [row["text"] for row in shell_json("search", "in", "--scope", scope)["passages"]]
        assert texts == [f"In {scope}."]
        with pytest.raises(CommandError):
            shell("episode", "get", kept, "--scope", scope)
    for scope in ("org:nowhere", "user:nobody", "team:x", "../x", "org:A", "", "mine"):
        with pytest.raises(CommandError):
            shell("search", "renewal", "--scope", scope)


REFUSED = (
    ("remember", "acme", " \t\u200b"),
    ("remember", "keep:x", "A text."),
    ("remember", "acme", "a\x00b"),
    ("remember", "acme", "half \ud800"),
    ("remember", "acme", "A text.", "--occurred-at", "2026-01-01T12:00:00"),
    ("remember", "acme", "A text.", "--occurred-at", "1000000000000000000"),
    ("remember", "acme", "A text.", "--tag", "UPPER"),
    ("remember", "acme", "A text.", "--acl", "everyone"),
    ("search", ""),
    ("search", "\x00"),
    ("search", "\ud800"),
    ("search", "x", "-k", "201"),
    ("search", "x", "--max-chars", "1"),
    ("search", "x", "--from", "20260726"),
    ("episode", "get", "../x"),
    ("episode", "get", "0" * 64),
    ("episode", "get", "0" * 64, "--units", "0"),
    ("episode", "list", "-k", "0"),
    ("episode", "list", "--cursor", "x"),
    ("episode", "list", "--tag", "\x00"),
    ("episode", "list", "--source", "\ud800"),
    ("episode", "forget", "0" * 64),
    ("ledger", "log", "--limit", "0"),
)


def test_what_cannot_be_taken_is_refused_in_one_line(engine: Engine) -> None:
    """Ours: the same rules as over REST, exit code 1, no traceback (cases 1, 11, 35, 40)."""
    del engine
    for words in REFUSED:
        with pytest.raises(CommandError) as refused:
            shell(*words)
        assert refused.value.returncode == 1
        assert len(str(refused.value).splitlines()) == 1


def test_a_note_is_read_from_stdin(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: bytes in UTF-8, verbatim, whatever the locale (case 5)."""
    del engine
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BODY.encode()), "latin-1"))
    identity = shell_json("remember", "acme")["episode_id"]
    assert shell_json("episode", "get", identity)["body"] == BODY
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    with pytest.raises(CommandError, match="UTF-8"):
        shell("remember", "acme", "-")


def test_output_is_the_same_under_any_locale(kept: str, engine: Engine) -> None:
    """Regression: no locale turns text into question marks (case 5)."""
    environment = {
        **os.environ,
        "AMPUP_MEMORY_DATABASE_URL": settings.AMPUP_DATABASE_DSN,
        "AMPUP_MEMORY_WAREHOUSE": str(engine.warehouse.root),
        "LC_ALL": "C",
        "LANG": "C",
    }
    environment.pop("PYTHONIOENCODING", None)
    words = [sys.executable, "manage.py", "episode", "get", kept]
    for extra in ([], ["--json"]):
        run = subprocess.run([*words, *extra], env=environment, capture_output=True, check=True)
        assert "\U0001f469\u200d\U0001f467 日本語" in run.stdout.decode()


def test_episode_types_are_shown(engine: Engine) -> None:
    """Documented: episode-type show <type>."""
    del engine
    assert shell_json("episode-type", "show", "sales_call")["letter"] == "t"
    assert "dynamicsCRM:" in shell("episode-type", "list")
    with pytest.raises(CommandError, match="sales_call"):
        shell("episode-type", "show", "nope")


def test_stored_text_does_not_steer_the_terminal(engine: Engine) -> None:
    """Ours: control and direction characters are written out for people, kept in JSON."""
    del engine
    body = "red \x1b[31m and \u202eevil"
    identity = shell_json("remember", "acme", body)["episode_id"]
    for answer in (shell("episode", "get", identity), shell("search", "evil")):
        assert "\x1b" not in answer
        assert "\u202e" not in answer
    assert shell_json("episode", "get", identity)["body"] == body


def test_index_and_ledger_are_proved_and_damage_is_found(kept: str) -> None:
    """Documented: verify exits 1 on damage and names it; rebuild mends it."""
    assert shell_json("ledger", "verify")["sound"] is True
    head = shell_json("ledger", "head")
    assert head["seq"] == 1
    log = shell_json("ledger", "log")["results"]
    assert [row["kind"] for row in log] == ["write"]
    assert log[0]["chain_hash"] == head["chain_hash"]
    assert head["chain_hash"] in shell("ledger", "head")
    assert log[0]["commit_id"] in shell("ledger", "log")
    assert shell_json("index", "status")["applied"] == log[0]["commit_id"]
    assert shell_json("index", "verify")["clean"] is True
    with psycopg.connect(settings.AMPUP_DATABASE_DSN, autocommit=True) as connection:
        connection.execute("DELETE FROM ampup_index.passages")
    with pytest.raises(CommandError, match="rebuild"):
        shell("index", "verify")
    assert shell_json("index", "rebuild")["commits"] == 1
    assert shell_json("index", "verify")["clean"] is True
    assert kept in shell("search", "renewal")


@pytest.mark.parametrize(
    "name", ["remember", "search", "episode", "episode-type", "index", "ledger"]
)
def test_help_ends_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Ours: every command shows how it is called."""
    with pytest.raises(SystemExit):
        call_command(name, "--help")
    assert f"ampup-memory {name}" in capsys.readouterr().out
