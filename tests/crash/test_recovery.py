"""SIGKILL at every named point of a landing, and then the catalog is lost as well."""

import signal
from collections.abc import Callable

import psycopg
import pytest
from django.conf import settings

from memory.engine import Engine
from memory.services.recovery import recover
from memory.tables.catalog import read_pointers
from tests.crash.conftest import Child
from tests.crash.deaths import Compaction, Landing, Promises, Run
from tests.memory.tables.book import put_pointers

pytestmark = pytest.mark.deaths


def _lose_catalog(engine: Engine) -> None:
    with psycopg.connect(settings.AMPUP_DATABASE_DSN, autocommit=True) as connection:
        assert read_pointers(connection)
        put_pointers(connection, {})
    report = recover(engine, dry_run=False)
    assert report.ledger is not None
    assert report.ledger.faults == ()


@pytest.mark.parametrize("point", Landing.points)
def test_all_that_was_acknowledged_is_recovered_and_no_half_of_what_died(
    engine: Engine, run_child: Run, promises: Promises, point: str
) -> None:
    """Documented: nothing acknowledged is lost; the last landing is whole or not at all."""
    dead = run_child("write", 4, failpoint=f"{point}@3=kill")
    assert dead.returncode == -signal.SIGKILL, dead.errors
    _lose_catalog(engine)
    live = promises(dead.acked())
    assert live - len(dead.acked()) in {0, 1}

    again: Child = run_child("write", 4)
    assert again.returncode == 0, again.errors
    assert promises(again.acked()) == 4
    _lose_catalog(engine)
    assert promises(again.acked()) == 4


@pytest.mark.parametrize("point", Compaction.points)
def test_a_compaction_that_died_takes_no_row_from_a_recovery(
    engine: Engine, run_child: Callable[..., Child], promises: Promises, point: str
) -> None:
    """Ours: whichever of the two versions is found, the rows are the same."""
    written = run_child("write", 8)
    dead = run_child("compact", failpoint=f"{point}=kill")
    assert dead.returncode == -signal.SIGKILL, dead.errors
    _lose_catalog(engine)
    assert promises(written.acked()) == 8
    more = run_child("write", 10)
    assert more.returncode == 0, more.errors
    _lose_catalog(engine)
    assert promises(more.acked()) == 10
