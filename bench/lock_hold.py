"""lock_hold: how long a landing holds the lock while a load, a rebuild and the mover run."""

from typing import Final

from bench.child import beside
from bench.corpus import NOTE_BYTES, TextSource
from bench.engines import running_engine
from bench.figures import milliseconds, percentile
from bench.loading import load
from bench.notes import drafts, fresh_scope
from bench.report import Result, value_at_most
from bench.store import Store
from bench.vectors import put_in_tail

_OTHER_EMBEDDER: Final = "bench-drawn-384-again"


def run(store: Store) -> list[Result]:
    """Load in this process, whose landings are timed; rebuild in another until the load ends."""
    count = 2_000 if store.small else 20_000
    texts = TextSource(stream=30).texts(count, NOTE_BYTES)
    with running_engine() as engine:
        # Something for the mover to move under HNSW while the load runs.
        put_in_tail(engine, embedder=_OTHER_EMBEDDER, limit=count // 4)
        with beside("rebuild") as rebuild:
            rebuild.begin()
            turn = 0
            # At least one load, and as many as the rebuild lasts.
            while turn == 0 or rebuild.running():
                load(engine, fresh_scope("load"), drafts(texts, prefix=f"hold/{turn}"))
                turn += 1
        held = milliseconds(engine.committer.figures().lock_secs)
    return [
        Result("lock_hold", percentile(held, 0.99), "ms", None, value_at_most(200)),
        Result("lock_hold.max", max(held), "ms"),
        Result("lock_hold.landings", len(held), "landings"),
    ]
