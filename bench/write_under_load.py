"""write_under_load: a write's p95 while notes load and a rebuild runs, against an idle server."""

from itertools import count
from time import sleep
from typing import Final

from bench.child import Work, beside
from bench.corpus import NOTE_BYTES, TextSource
from bench.engines import running_engine
from bench.figures import milliseconds, percentile
from bench.notes import fresh_scope, note, write_one
from bench.report import Result, at_most
from bench.store import Store
from memory.engine import Engine

_PAUSE_SECS: Final = 0.01
_FEWEST: Final = 50


def run(store: Store) -> list[Result]:
    """Write alone, then beside the load and the rebuild until either ends, then alone again."""
    notes = 2_000 if store.small else 20_000
    alone = 50 if store.small else 300
    with running_engine() as engine:
        one = _Writer(engine)
        one.write(30)
        idle = one.write(alone)
        with beside("load", str(notes), "40") as load, beside("rebuild") as rebuild:
            load.begin()
            rebuild.begin()
            busy = one.write_while(load, rebuild)
        idle += one.write(alone)
    assert len(busy) >= (1 if store.small else _FEWEST), (
        "the load ended before anything could be measured"
    )
    quiet, loaded = milliseconds(idle), milliseconds(busy)
    return [
        Result(
            "write_under_load",
            percentile(loaded, 0.95),
            "ms",
            percentile(quiet, 0.95),
            at_most(5),
        ),
        Result("write_under_load.p50", percentile(loaded, 0.5), "ms", percentile(quiet, 0.5)),
        Result("write_under_load.writes", len(loaded), "writes"),
    ]


class _Writer:
    """Somebody who writes one note after another, with a short pause between."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._scope = fresh_scope("busy")
        self._texts = TextSource(stream=41).iter_texts(1_000_000, NOTE_BYTES)
        self._places = count()

    def write(self, times: int) -> list[float]:
        """Write so many notes; return the seconds of each."""
        return [self._once() for _ in range(times)]

    def write_while(self, *work: Work) -> list[float]:
        """Write while all of the work goes on; return the seconds of each."""
        times = []
        while all(one.running() for one in work):
            times.append(self._once())
        return times

    def _once(self) -> float:
        seconds = write_one(
            self._engine,
            self._scope,
            note(next(self._texts), prefix="busy", place=next(self._places)),
        )
        sleep(_PAUSE_SECS)
        return seconds
