"""write_group: many clients posting batches into one scope, against tokenizing on one core."""

from statistics import median
from typing import Final

from bench.corpus import NOTE_BYTES, PASSAGE_BYTES, TextSource
from bench.notes import fresh_scope
from bench.posting import batches, check_searchable, post_all
from bench.report import Result, at_least
from bench.server import Server, serving
from bench.store import Store
from bench.tokenizer import rate_on_one_core

CLIENTS: Final = 32
BATCH: Final = 100
_ROUNDS: Final = 5


def run(store: Store) -> list[Result]:
    """Measure notes first, then texts of the corpus's own size."""
    log = store.folder / "server.log"
    with serving(dsn=store.dsn, data_dir=store.data_dir, log=log) as server:
        return [
            _measure(server, store, "write_group", NOTE_BYTES),
            _measure(server, store, "write_group.passages", PASSAGE_BYTES),
        ]


def _measure(server: Server, store: Store, name: str, size: tuple[int, int]) -> Result:
    """Take turns: tokenize the notes of a round, then post them; the first round warms up."""
    scope = fresh_scope("group").spelling
    count = CLIENTS * BATCH * (1 if store.small else 4)
    source = TextSource(stream=10 + size[0])
    ours: list[float] = []
    reference: list[float] = []
    for turn in range(_ROUNDS + 1):
        texts = source.texts(count, size)
        reference.append(rate_on_one_core(texts))
        ready = batches(texts, size=BATCH, scope=scope, prefix=f"group/{size[0]}/{turn}")
        clients = [ready[client::CLIENTS] for client in range(CLIENTS)]
        ours.append(count / post_all(server, clients))
        check_searchable(server, texts[-1], scope=scope)
    return Result(name, median(ours[1:]), "notes/s", median(reference[1:]), at_least(0.35))
