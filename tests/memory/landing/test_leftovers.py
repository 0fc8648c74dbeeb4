"""A landing that does not land leaves no data file, whatever stopped it and however late."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from memory.domain.errors import StorageUnavailable
from memory.domain.landing import plan_landing
from memory.engine import Engine
from memory.landing import transaction
from memory.landing.committer import Committer
from memory.landing.encoding import encode_batch
from memory.services.episodes import ingest
from memory.tables.catalog import read_pointers
from memory.tables.encode import EncodedPart, ScopePart
from memory.tables.files import local_path
from memory.tables.warehouse import Warehouse
from tests.builders import episode
from tests.memory.domain.test_landing import added, writes
from tests.memory.tables.book import paths_below

Act = Callable[[], object]


@pytest.fixture
def at_points(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Do something the first time a landing reaches each of some points."""

    def arrange(**acts: Act) -> None:
        def reach(name: str) -> None:
            acts.pop(name.removeprefix("landing."), lambda: None)()

        monkeypatch.setattr(transaction, "reach", reach)

    return arrange


@pytest.fixture
def neighbour(engine: Engine) -> Iterator[Engine]:
    """Another process on the same stores."""
    warehouse = Warehouse(root=engine.warehouse.root, dsn=engine.index.dsn)
    committer = Committer(
        warehouse=warehouse, index=engine.index, clock=engine.clock, ids=engine.ids
    )
    yield replace(engine, warehouse=warehouse, committer=committer)
    committer.close()
    warehouse.close()


def test_what_another_process_landed_first_leaves_no_file_of_the_second(
    engine: Engine, neighbour: Engine, owner: Caller, org: Scope, at_points: Callable[..., None]
) -> None:
    """Regression: the files of a batch of repeats stayed for a day."""
    at_points(encoded=lambda: ingest(neighbour, owner, org, [episode("one")]).wait())
    kept = ingest(engine, owner, org, [episode("one")]).wait()
    assert [held.created for held in kept.episodes] == [False]
    assert engine.warehouse.ledger_seq() == 1
    assert strays(engine) == set()


def test_files_that_were_encoded_again_go_with_a_landing_that_fails(
    engine: Engine, neighbour: Engine, owner: Caller, org: Scope, at_points: Callable[..., None]
) -> None:
    """Regression: only those of the first encoding were discarded."""

    def first() -> None:
        ingest(neighbour, owner, org, [episode("one")]).wait()
        at_points(copied=no_room)

    at_points(encoded=first)
    pending = ingest(engine, owner, org, [episode("one"), episode("two")])
    with pytest.raises(StorageUnavailable):
        pending.wait()
    assert strays(engine) == set()
    kept = ingest(engine, owner, org, [episode("one"), episode("two")]).wait()
    assert [held.created for held in kept.episodes] == [False, True]


def test_a_batch_that_is_half_encoded_leaves_no_file_of_any_scope(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: the files of the scopes that were encoded stayed for a day."""
    batch = [writes(added(name), scope=f"org_{name}")[0] for name in "abcd"]
    encode = engine.warehouse.encode

    def encode_but_one(_warehouse: Warehouse, part: ScopePart) -> EncodedPart:
        return encode(part) if part.namespace != "org_b" else no_room()

    monkeypatch.setattr(Warehouse, "encode", encode_but_one)
    with ThreadPoolExecutor(2) as pool:
        for map_parts in (map, pool.map):
            with pytest.raises(OSError, match="No space"):
                encode_batch(
                    engine.warehouse,
                    plan_landing(batch, {}),
                    present_bodies={},
                    map_parts=map_parts,
                )
            assert paths_below(engine.warehouse.root) == set()


def no_room() -> EncodedPart:
    raise OSError(28, "No space left on device")


def strays(engine: Engine) -> set[Path]:
    """Return the data files that no table holds, but for the ledger's own."""
    held: set[Path] = set()
    with engine.warehouse.connected() as connection:
        pointers = read_pointers(connection)
        for key in pointers:
            held |= {
                local_path(file.path) for file in engine.warehouse.state(key, pointers).files()
            }
    there = paths_below(engine.warehouse.root)
    return {path for path in there - held if path.parent.name == "data"} - {
        path for path in there if path.is_relative_to(engine.warehouse.root / "memory_system")
    }
