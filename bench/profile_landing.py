"""`python -m bench.profile_landing`: where the time of a landing goes, phase by phase.

A tool for tuning, no measurement: it keeps nothing and judges nothing.
"""

import argparse
import cProfile
import pstats
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter, thread_time
from typing import Any

from bench.corpus import NOTE_BYTES, PASSAGE_BYTES, TextSource
from bench.database import database_server
from bench.engines import running_engine, set_up
from bench.store import CACHE, Store, alone
from memory.landing import transaction
from memory.tables import warehouse


@dataclass(slots=True)
class Phases:
    """Wall and processor milliseconds between the points of a landing, by the point reached."""

    wall: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    processor: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    _at: tuple[float, float] = (0.0, 0.0)

    def begin(self) -> None:
        """Start a landing's clock."""
        self._at = (perf_counter(), thread_time())

    def reach(self, name: str) -> None:
        """Say that a point was reached; a failpoint's hook."""
        now = (perf_counter(), thread_time())
        self.wall[name].append(1_000 * (now[0] - self._at[0]))
        self.processor[name].append(1_000 * (now[1] - self._at[1]))
        self._at = now

    def table(self) -> str:
        """Return the medians in the order the points were first reached."""
        lines = [f"{'until':<24}{'wall ms':>9}{'cpu ms':>9}"]
        for name, times in self.wall.items():
            lines.append(f"{name:<24}{median(times):>9.2f}{median(self.processor[name]):>9.2f}")
        lines.append(f"{'all':<24}{sum(map(median, self.wall.values())):>9.2f}")
        return "\n".join(lines)


def main() -> int:
    """Write some landings and print their phases."""
    parser = argparse.ArgumentParser(prog="python -m bench.profile_landing", description=__doc__)
    parser.add_argument("--rows", type=int, default=1, help="notes of a write")
    parser.add_argument("--writes", type=int, default=100)
    parser.add_argument("--passages", action="store_true", help="texts of 1,200 to 1,500 bytes")
    parser.add_argument("--full", action="store_true", help="into the full corpus")
    parser.add_argument("--functions", type=int, default=0, help="so many functions by own time")
    chosen = parser.parse_args()
    with alone(), database_server(CACHE / "postgres") as server:
        store = Store(server, small=not chosen.full)
        set_up(store)
        if not store.is_built():
            sys.exit("error: the corpus is not built; run `python -m bench` first")
        store.restore()
        _profile(chosen)
    return 0


def _profile(chosen: argparse.Namespace) -> None:
    # Services know their models only once the settings are there.
    from bench.notes import drafts, fresh_scope, writer
    from memory.services.episodes import ingest

    phases, functions = Phases(), cProfile.Profile()
    _watch(phases, functions if chosen.functions else None)
    size = PASSAGE_BYTES if chosen.passages else NOTE_BYTES
    texts = TextSource(stream=9).texts(chosen.rows * chosen.writes, size)
    calls: list[float] = []
    with running_engine() as engine:
        for start in range(0, len(texts), chosen.rows):
            batch = list(drafts(texts[start : start + chosen.rows], prefix=f"profile/{start}"))
            began = perf_counter()
            ingest(engine, writer(), fresh_scope("one"), batch).wait()
            calls.append(1_000 * (perf_counter() - began))
        held = [1_000 * secs for secs in engine.committer.figures().lock_secs]
    print(phases.table())
    print(f"{'a call, all in all':<24}{median(calls):>9.2f}")
    print(f"{'the lock was held':<24}{median(held):>9.2f}   most {max(held):.2f}")
    if chosen.functions:
        pstats.Stats(functions).sort_stats("tottime").print_stats(chosen.functions)


def _watch(phases: Phases, functions: cProfile.Profile | None) -> None:
    """Stand in for the failpoints of a landing, and profile the committer's thread."""
    transaction.reach = warehouse.reach = phases.reach  # type: ignore[attr-defined]
    prepare, land = transaction.Landing.prepare, transaction.Landing.land

    def begun(self: Any, *given: Any) -> Any:
        phases.begin()
        return _profiled(functions, prepare, self, *given)

    def landed(self: Any, *given: Any) -> Any:
        return _profiled(functions, land, self, *given)

    transaction.Landing.prepare = begun  # type: ignore[assignment, method-assign]
    transaction.Landing.land = landed  # type: ignore[assignment, method-assign]


def _profiled(functions: cProfile.Profile | None, call: Callable[..., Any], *given: Any) -> Any:
    if functions is None:
        return call(*given)
    return functions.runcall(call, *given)


if __name__ == "__main__":
    sys.exit(main())
