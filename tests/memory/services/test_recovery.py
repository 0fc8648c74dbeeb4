"""Postgres lost its catalog, or is an older backup: one command, and every answer is as before."""

import json
import shutil
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from memory import wiring
from memory.domain.errors import CatalogBehind, StorageUnavailable
from memory.engine import Engine
from memory.landing import transaction
from memory.search import ddl
from memory.services import indexing, ledger, upkeep
from memory.services.episodes import remember
from memory.tables.catalog import read_pointers
from tests.builders import note
from tests.memory.search.test_rebuild import answers, fill
from tests.memory.tables.book import put_pointers


def recover(*words: str) -> dict[str, Any]:
    """Return what the command answers in JSON."""
    out = StringIO()
    call_command("catalog", "recover", *words, "--json", stdout=out)
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


@pytest.fixture
def postgres(engine: Engine) -> Iterator[psycopg.Connection]:
    """A connection of an operator."""
    del engine
    with psycopg.connect(settings.AMPUP_DATABASE_DSN, autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize("index_too", [False, True])
def test_an_older_catalog_refuses_writes_and_removal_until_it_is_recovered(
    engine: Engine,
    owner: Caller,
    org: Scope,
    postgres: psycopg.Connection,
    index_too: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Documented: "What must survive": an older dump of Postgres under a newer warehouse."""
    remember(engine, owner, org, note("Before the backup.")).wait()
    remember(engine, owner, org, note("And this.")).wait()
    older = read_pointers(postgres)
    fill(engine, owner, org)
    before = answers(engine, owner, org)
    put_pointers(postgres, older)
    if index_too:
        postgres.execute(f"DROP SCHEMA {ddl.SCHEMA} CASCADE")
        _restarted()  # its start builds an index that stands where the old catalog does

    starts: tuple[Callable[[], Engine], ...] = (wiring.engine, _restarted)
    for start in starts:
        fresh = start()
        with pytest.raises(CatalogBehind):
            remember(fresh, owner, org, note("Too late.")).wait()
        removal = upkeep.remove_unreachable_files(fresh)
        assert removal is not None
        assert (removal.tables, removal.files, removal.failed) == (0, 0, len(older))
    assert "ampup-memory catalog recover" in caplog.text
    assert "Traceback" not in caplog.text
    assert recover("--dry-run")["index"] == "untouched"
    assert read_pointers(postgres) == older

    done = recover()
    fate = "caught_up" if index_too else "current"
    assert (done["from_seq"], done["to_seq"], done["index"]) == (2, 14, fate)
    assert done["ledger"]["faults"] == []
    assert answers(wiring.engine(), owner, org) == before
    _sound_and_serving(owner, org)


@pytest.mark.parametrize("also", ["", "index", "head"])
def test_a_lost_catalog_is_recovered_with_whatever_index_there_is(
    engine: Engine, owner: Caller, org: Scope, postgres: psycopg.Connection, also: str
) -> None:
    """Documented: from the warehouse alone; the index catches up or is built anew."""
    fill(engine, owner, org)
    before = answers(engine, owner, org)
    put_pointers(postgres, {})
    wiring.close_engine()
    if also == "index":
        postgres.execute(f"DROP SCHEMA {ddl.SCHEMA} CASCADE")
    if also == "head":
        postgres.execute(f"UPDATE {ddl.SCHEMA}.ledger_head SET chain_hash = repeat('f', 64)")
    expected = {"": "current", "index": "rebuilt", "head": "rebuilt"}[also]
    assert recover()["index"] == expected
    assert answers(wiring.engine(), owner, org) == before
    _sound_and_serving(owner, org)


def test_an_older_warehouse_under_a_newer_catalog_is_gone_on_from(
    engine: Engine, owner: Caller, org: Scope, tmp_path: Path
) -> None:
    """Ours: a restored folder starts no server, but the command that says what is there starts."""
    fill(engine, owner, org)
    before = answers(engine, owner, org)
    wiring.close_engine()
    warehouse = Path(settings.AMPUP_WAREHOUSE)
    shutil.copytree(warehouse, tmp_path / "backup")
    for n in range(3):
        remember(wiring.engine(), owner, org, note(f"Later {n}.")).wait()
    wiring.close_engine()
    shutil.rmtree(warehouse)
    (tmp_path / "backup").rename(warehouse)

    assert recover()["index"] == "rebuilt"
    assert answers(_restarted(), owner, org) == before
    _sound_and_serving(owner, org)


def test_what_was_staged_and_refused_is_not_recovered(
    engine: Engine,
    owner: Caller,
    org: Scope,
    postgres: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Documented: a version on the disk without its ledger row has not landed."""
    remember(engine, owner, org, note("Kept.")).wait()
    before = answers(engine, owner, org)

    def full(name: str) -> None:
        if name == "landing.copied":
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(transaction, "reach", full)
        pending = remember(engine, owner, org, note("Refused."))
        with pytest.raises(StorageUnavailable):
            pending.wait()
    put_pointers(postgres, {})
    done = recover()
    assert (done["to_seq"], len(done["left_out"])) == (1, 1)
    assert answers(wiring.engine(), owner, org) == before
    _sound_and_serving(owner, org)


def test_people_are_told_in_words(
    engine: Engine, owner: Caller, org: Scope, postgres: psycopg.Connection
) -> None:
    """Ours: numbers of what it did, and what may be in doubt."""
    for n in range(3):
        remember(engine, owner, org, note(f"Note {n}.")).wait()
    put_pointers(postgres, {})
    out = StringIO()
    call_command("catalog", "recover", stdout=out)
    said = out.getvalue()
    assert "stood at seq 0, what has landed at 3" in said
    assert "1 commits at the end may never" in said
    assert "3 commits and 6 rows proved" in said


def _restarted() -> Engine:
    wiring.close_engine()
    return wiring.engine()


def _sound_and_serving(owner: Caller, org: Scope) -> None:
    engine = _restarted()
    assert ledger.verify(engine).faults == ()
    assert indexing.verify(engine).clean
    assert remember(engine, owner, org, note("After all.")).wait().created
    assert indexing.verify(engine).clean
