"""Callers of REST: the owner of a local server, and keys of each kind."""

import pytest
from pytest_django import Settings

import ampup_site.celery  # noqa: F401 -- the app whose broker is in memory, as `serve` has it
from accounts.domain.roles import Role
from memory.engine import Engine
from tests.accounts.builders import a_key
from tests.memory.api.rest import Rest


@pytest.fixture
def local(engine: Engine, settings: Settings) -> Rest:
    """The owner, who needs no key; keys are checked as ever."""
    settings.AMPUP_LOCAL = True
    return Rest()


@pytest.fixture
def priya(engine: Engine) -> Rest:
    """A person of every org."""
    return Rest(a_key(Role.PERSONAL, person="priya").text)


@pytest.fixture
def sam(engine: Engine) -> Rest:
    """Another person: whatever is Priya's own is not there for him."""
    return Rest(a_key(Role.PERSONAL, person="sam").text)


@pytest.fixture
def reader(engine: Engine) -> Rest:
    """A key that only reads."""
    return Rest(a_key(Role.READER).text)


@pytest.fixture
def ingest(engine: Engine) -> Rest:
    """A key that only writes."""
    return Rest(a_key(Role.INGEST).text)
