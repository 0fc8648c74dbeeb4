"""One engine and one data set for a whole module, and every line that is logged meanwhile."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test.utils import setup_databases, teardown_databases
from pytest_django import DjangoDbBlocker
from typing_extensions import override

from accounts.services.orgs import ensure_default_org
from ampup_site.kernel.clock import SystemClock
from memory import wiring
from memory.services import jobs
from tests.conftest import forget_everything
from tests.leaks.world import World, build_world


class Kept(logging.Handler):
    """Keeps every line as it would be written."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))
        self.lines = lines

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture(scope="module")
def world(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[World]:
    """The data set of `tests.leaks.world`; nobody takes a background job from it."""
    folder = tmp_path_factory.mktemp("leaks")
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock(), _database():
        patch.setattr(settings, "AMPUP_WAREHOUSE", folder / "warehouse")
        patch.setattr(settings, "AMPUP_DATA_DIR", folder)
        patch.setattr(jobs, "ask_for", lambda job: None)
        _empty()
        built = build_world(wiring.engine(), Path(folder))
        with _listening(built.lines):
            yield built
        _empty()
        wiring.close_engine()


@contextmanager
def _database() -> Iterator[None]:
    """Make the tests' database where they run alone: no mark says that they need it."""
    name = settings.DATABASES["default"]["TEST"]["NAME"]
    if connection.settings_dict["NAME"] == name:
        yield
        return
    made = setup_databases(verbosity=0, interactive=False, aliases={"default": None})
    try:
        yield
    finally:
        teardown_databases(made, verbosity=0)


def _empty() -> None:
    wiring.close_engine()
    forget_everything(settings.AMPUP_DATABASE_DSN)
    call_command("flush", interactive=False, verbosity=0, allow_cascade=True)
    ensure_default_org(settings.AMPUP_DEFAULT_ORG, clock=SystemClock())


@contextmanager
def _listening(lines: list[str]) -> Iterator[None]:
    """Log everything there is, to `lines` as well."""
    root, kept = logging.getLogger(), Kept(lines)
    level = root.level
    root.addHandler(kept)
    root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.removeHandler(kept)
        root.setLevel(level)
