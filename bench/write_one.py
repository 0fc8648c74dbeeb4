"""write_one: a single note, durable and visible, against the stock library doing as much."""

from bench.baselines import StockAppend
from bench.corpus import NOTE_BYTES, TextSource
from bench.engines import running_engine
from bench.figures import milliseconds, p50, percentile
from bench.notes import fresh_scope, note, write_one
from bench.report import Result, at_most
from bench.store import Store

_WARM_UP = 30


def run(store: Store) -> list[Result]:
    """Take turns: one note by a service call, one by a stock append, until there are enough."""
    rounds = 40 if store.small else 300
    texts = TextSource(stream=1).texts(rounds + _WARM_UP, NOTE_BYTES)
    ours: list[float] = []
    stock: list[float] = []
    baseline = StockAppend(dsn=store.dsn, warehouse=store.scratch / "stock")
    with running_engine() as engine:
        scope = fresh_scope("one")
        for place, text in enumerate(texts):
            draft = note(text, prefix="one", place=place)
            ours.append(write_one(engine, scope, draft))
            stock.append(baseline.seconds(text))
    baseline.close()
    ours, stock = milliseconds(ours[_WARM_UP:]), milliseconds(stock[_WARM_UP:])
    middle = p50(ours)
    return [
        Result("write_one", middle, "ms", p50(stock), at_most(0.8)),
        Result("write_one.p95", percentile(ours, 0.95), "ms", middle, at_most(4)),
    ]
