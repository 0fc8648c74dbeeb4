"""write_growth: what a commit costs at the end of ten thousand, against the first hundred."""

import sys
from statistics import mean

from bench.corpus import NOTE_BYTES, TextSource
from bench.engines import running_engine
from bench.figures import milliseconds, p50, percentile
from bench.notes import fresh_scope, note, write_one
from bench.report import Result, at_most, value_at_most
from bench.store import Store
from memory.engine import Engine

_WARM_UP = 50
_WINDOW = 100


def run(store: Store) -> list[Result]:
    """Commit notes one after another into one new scope, and compare both ends."""
    with running_engine() as engine:
        commit_notes(engine, "warm", _WARM_UP, stream=2)
        times = milliseconds(commit_notes(engine, "growth", commits_of(store), stream=3))
    first, last = times[:_WINDOW], times[-_WINDOW - 1 :]
    return [
        Result("write_growth", p50(last), "ms", p50(first), at_most(1.2)),
        Result("write_growth.mean", mean(last), "ms", mean(first), at_most(1.3)),
        Result("write_growth.p99", percentile(times, 0.99), "ms", p50(times), at_most(3)),
        Result("write_growth.max", max(times), "ms", None, value_at_most(250)),
    ]


def commits_of(store: Store) -> int:
    """Return how many single commits the bench makes."""
    return 300 if store.small else 10_000


def commit_notes(engine: Engine, scope_name: str, count: int, *, stream: int) -> list[float]:
    """Write notes by service calls, each a commit; return the seconds of each."""
    scope = fresh_scope(scope_name)
    times = []
    for place, text in enumerate(TextSource(stream=stream).iter_texts(count, NOTE_BYTES)):
        draft = note(text, prefix=scope_name, place=place)
        times.append(write_one(engine, scope, draft))
        if place % 1_000 == 999:
            print(f"growth: {place + 1} of {count}", file=sys.stderr)
    return times
