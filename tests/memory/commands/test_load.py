"""The shell's `load`: files and folders in, whole chunks stored, refusals listed by line."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import pytest
from django.core.management import CommandError, call_command
from typing_extensions import override

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from memory.engine import Engine
from memory.management.commands import load as command
from memory.management.load_progress import Gauge, gauge
from memory.search.episodes import EpisodeFilters
from memory.services.episodes import list_episodes
from memory.services.search import PassageQuery, find_passages
from tests.builders import reader

CALL = "Priya: Who owns the renewal?\nSam: I do.\nPriya: By when?\nSam: By Friday.\n"


def load(path: Path, *words: str, code: int = 0) -> str:
    """Run the command; return what it wrote."""
    out = io.StringIO()
    if code:
        with pytest.raises(CommandError) as refusal:
            call_command("load", str(path), *words, stdout=out)
        assert refusal.value.returncode == code
    else:
        call_command("load", str(path), *words, stdout=out)
    return out.getvalue()


def _lines(path: Path, count: int) -> Path:
    path.write_text(
        "".join(
            json.dumps({"source": f"note:{n}", "body": f"Number {n} is kept."}) + "\n"
            for n in range(count)
        )
    )
    return path


def test_a_folder_is_loaded_by_what_each_file_is_and_a_second_run_adds_nothing(
    engine: Engine, owner: Caller, org: Scope, tmp_path: Path
) -> None:
    """Documented: JSONL, transcripts and a folder of text."""
    folder = tmp_path / "corpus"
    (folder / "calls").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "calls" / "acme.txt").write_text(CALL)
    (folder / "plan.md").write_text("# Plan\n\nShip on the ninth.\n")
    (folder / "prose.txt").write_text("Once upon a time: nobody spoke.\n")
    (folder / "image.png").write_bytes(b"\x89PNG")
    (folder / ".git" / "config.txt").write_text("hidden")
    _lines(folder / "notes.jsonl", 2)

    assert "5 stored, 0 already there" in load(folder)
    page = list_episodes(engine, owner, org, EpisodeFilters(), k=50)
    assert sorted((item.source, item.episode_type, item.document) for item in page.episodes) == [
        ("doc:plan.md", "doc", "plan.md"),
        ("doc:prose.txt", "doc", "prose.txt"),
        ("meeting:calls/acme", "sales_call", None),
        ("note:0", "doc", None),
        ("note:1", "doc", None),
    ]
    hit = find_passages(engine, owner, org, PassageQuery("who owns the renewal"))[0]
    assert (hit.source, hit.first_unit, hit.last_unit) == ("meeting:calls/acme", 1, 4)

    assert "0 stored, 5 already there" in load(folder)
    assert engine.warehouse.ledger_seq() == 1


def test_bad_lines_are_listed_with_their_place_and_the_rest_is_loaded(
    engine: Engine, tmp_path: Path
) -> None:
    """Documented: a poisoned member is refused alone, and the exit code says so."""
    path = tmp_path / "mixed.jsonl"
    path.write_text(
        '{"source": "note:1", "body": "fine"}\n'
        "{not json\n"
        "\n"
        '{"source": "note:4", "body": "x", "colour": "red"}\n'
        '{"source": "mcp:remember_memory:x:y", "body": "signed by no server"}\n'
        '{"source": "note:6", "body": "a\\u0000b"}\n'
        '{"source": "anything:7", "body": "read as a doc"}\n'
    )
    out = load(path, code=1)
    assert "2 stored, 0 already there" in out
    for line in (2, 4, 5, 6):
        assert f"refused mixed.jsonl:{line}  " in out

    answer: Any = json.loads(load(path, "--json", code=1))
    assert (answer["created"], answer["repeated"]) == (0, 2)
    assert [item["position"].rpartition(":")[2] for item in answer["refused"]] == [
        "2",
        "4",
        "5",
        "6",
    ]
    del engine


def test_a_link_out_of_the_folder_is_refused_and_one_within_it_is_read(
    engine: Engine, tmp_path: Path
) -> None:
    """Ours: a folder from elsewhere puts no file of its loader's before everybody who reads."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    (tmp_path / "key.txt").write_text("CANARY of the loader")
    (folder / "plan.txt").write_text("The plan is kept.")
    (folder / "same.txt").symlink_to("plan.txt")
    (folder / "out.txt").symlink_to(tmp_path / "key.txt")
    written = load(folder, code=1)
    assert "refused out.txt:1  The link leads out of the folder" in written
    assert "2 stored" in written


def test_a_file_name_of_two_lines_is_told_in_one(engine: Engine, tmp_path: Path) -> None:
    """Ours: no name can pass for a line of the report."""
    (tmp_path / "a\n9 stored.txt").write_text("kept?")
    lines = load(tmp_path, code=1).splitlines()
    assert not [line for line in lines if line.startswith("9 stored")]


def test_who_may_read_is_what_the_command_says_where_the_file_does_not(
    engine: Engine, owner: Caller, org: Scope, tmp_path: Path
) -> None:
    """Documented: specification, sections 3 and 17; and a stranger finds nothing."""
    path = tmp_path / "two.jsonl"
    path.write_text(
        '{"source": "note:1", "body": "the falcon lands", "acl": ["group:pilots"]}\n'
        '{"source": "note:2", "body": "the falcon rests"}\n'
    )
    load(path, "--acl", "group:sales")

    def seen(caller: Caller) -> list[str]:
        hits = find_passages(engine, caller, org, PassageQuery("falcon"))
        return sorted(hit.source for hit in hits)

    assert seen(owner) == ["note:1", "note:2"]
    assert seen(reader("ann", "sales")) == ["note:2"]
    assert seen(reader("pia", "pilots")) == ["note:1"]
    assert seen(reader("bob")) == []
    with pytest.raises(CommandError, match="acl"):
        call_command("load", str(path), "--acl", "everyone")


def test_an_atomic_load_with_a_bad_line_stores_nothing(engine: Engine, tmp_path: Path) -> None:
    """Documented: specification, section 15."""
    path = _lines(tmp_path / "all.jsonl", 3)
    with path.open("a") as out:
        out.write("{not json\n")
    with pytest.raises(CommandError, match=r"all\.jsonl:4"):
        call_command("load", str(path), "--atomic")
    assert engine.warehouse.ledger_seq() == 0


def test_ctrl_c_leaves_whole_chunks_and_the_same_command_goes_on(
    engine: Engine, owner: Caller, org: Scope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a person may stop a load at any time."""

    @contextmanager
    def impatient(stream: TextIO, *, total: int) -> Iterator[Gauge]:
        del stream, total
        yield Gauge(read=lambda size: None, landed=_interrupt)

    path = _lines(tmp_path / "many.jsonl", 1_200)
    with monkeypatch.context() as person:
        person.setattr(command, "gauge", impatient)
        load(path, code=130)
    answer = json.loads(load(path, "--json"))

    assert answer["created"] + answer["repeated"] == 1_200
    assert answer["created"] in {0, 200, 700}
    assert list_episodes(engine, owner, org, EpisodeFilters(), k=1).episodes


def _interrupt(count: int) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("missing", ["nowhere", "nowhere.jsonl"])
def test_a_path_that_is_not_there_is_one_line(engine: Engine, tmp_path: Path, missing: str) -> None:
    """Ours: no traceback for what can be expected."""
    with pytest.raises(CommandError, match="path"):
        call_command("load", str(tmp_path / missing))
    del engine


class _Terminal(io.StringIO):
    @override
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_bar_with_the_rate_and_a_log_shows_nothing_for_a_short_load() -> None:
    """Ours: output that is not for people's eyes stays short."""
    for stream, shown in ((_Terminal(), True), (io.StringIO(), False)):
        with gauge(stream, total=100) as told:
            told.read(50)
            told.landed(500)
        assert ("500 episodes" in stream.getvalue()) is shown
