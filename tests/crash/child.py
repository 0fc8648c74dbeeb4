"""What a child process does to a server's stores, and may be told to die doing.

It writes a line for each thing that was acknowledged to it.
"""

import os
import sys
from collections.abc import Mapping
from itertools import count
from pathlib import Path

import django

from ampup_site.kernel.clock import Micros

_out: list[Path] = []


def main(action: str, times: int, environment: Mapping[str, str], out: Path) -> None:
    """Do the action on the stores that the environment names; lines go to `out`."""
    os.environ.update(environment)
    _out.append(out)
    from ampup_site.kernel.failpoints import arm

    arm(environment["AMPUP_MEMORY_FAILPOINT"])
    sys.stderr = out.with_suffix(".err").open("w", buffering=1)
    django.setup()
    from memory.wiring import close_engine

    _ACTIONS[action](times)
    close_engine()
    _say("done")


def _say(line: str) -> None:
    with _out[0].open("a") as lines:
        lines.write(f"{line}\n")


def _write(times: int) -> None:
    from accounts.domain.caller import local_caller
    from accounts.domain.scope import Scope
    from memory.services.episodes import remember
    from memory.services.preparing import NoteDraft
    from memory.wiring import engine

    name = os.environ.get("CHILD", "child")
    scope = Scope.org_scope("default")
    for n in range(times):
        body = f"{name} wrote note {n} " + (
            "word " * (20_000 if n == 1 and name.startswith("long") else 5)
        )
        kept = remember(engine(), local_caller(), scope, NoteDraft(f"{name}{n}", body)).wait()
        _say(f"acked {kept.episode_id} {kept.commit} {kept.created}")


def _same(times: int) -> None:
    from accounts.domain.caller import local_caller
    from accounts.domain.scope import Scope
    from memory.services.episodes import remember
    from memory.services.preparing import NoteDraft
    from memory.wiring import engine

    for _ in range(times):
        kept = remember(
            engine(), local_caller(), Scope.org_scope("default"), NoteDraft("same", "The same.")
        ).wait()
        _say(f"acked {kept.episode_id} {kept.commit} {kept.created}")


def _forget(_: int) -> None:
    from accounts.domain.caller import local_caller
    from accounts.domain.scope import Scope
    from memory.services.episodes import forget
    from memory.wiring import engine

    kept = forget(
        engine(), local_caller(), Scope.org_scope("default"), os.environ["EPISODE"]
    ).wait()
    _say(f"acked {kept.episode_id} {kept.commit}")


def _rebuild(times: int) -> None:
    from memory.services.indexing import rebuild
    from memory.wiring import engine

    for _ in range(times):
        _say(f"rebuilt {rebuild(engine()).generation}")


def _move(times: int) -> None:
    from memory.landing.mover import step
    from memory.wiring import engine

    held = engine()
    with held.index.connect(application="child mover") as connection:
        for _ in range(times):
            _say(f"moved {step(connection, clock=held.clock)}")


def _compact(times: int) -> None:
    from memory.tables.compaction import compact
    from memory.wiring import engine

    for n in count():
        done = [
            compact(engine().warehouse, key, min_files=4)
            for key in (("org_default", "episodes"), ("memory_system", "ledger"))
        ]
        _say(f"compacted {done}")
        if n + 1 >= times:
            return


def _expire(_: int) -> None:
    from memory.tables.upkeep import remove_unreachable
    from memory.wiring import engine

    for key in (("org_default", "episodes"), ("memory_system", "ledger")):
        gone = remove_unreachable(
            engine().warehouse, key, data_age=Micros(0), metadata_age=Micros(0)
        )
        _say(f"removed {gone.files}")


_ACTIONS = {
    "write": _write,
    "same": _same,
    "forget": _forget,
    "rebuild": _rebuild,
    "move": _move,
    "compact": _compact,
    "expire": _expire,
}
