"""load_searchable: notes a second until they can be found, against tokenizing on all cores."""

from statistics import median
from typing import Final

from bench.corpus import NOTE_BYTES, PASSAGE_BYTES, TextSource
from bench.engines import running_engine
from bench.loading import load
from bench.notes import drafts, fresh_scope, writer
from bench.report import Result, at_least
from bench.store import Store
from bench.tokenizer import AllCores
from memory.engine import Engine
from memory.services.search import PassageQuery, find_passages

_ROUNDS: Final = 3


def run(store: Store) -> list[Result]:
    """Measure notes first, then texts of the corpus's own size."""
    with running_engine() as engine:
        return [
            _measure(engine, "load_searchable", NOTE_BYTES, 4_000 if store.small else 40_000),
            _measure(
                engine,
                "load_searchable.passages",
                PASSAGE_BYTES,
                2_000 if store.small else 20_000,
            ),
        ]


def _measure(engine: Engine, name: str, size: tuple[int, int], count: int) -> Result:
    """Take turns: tokenize the notes of a round on all cores, then load them."""
    source = TextSource(stream=20 + size[0])
    ours: list[float] = []
    reference: list[float] = []
    for turn in range(_ROUNDS):
        texts = source.texts(count, size)
        cores = AllCores(texts)
        reference.append(cores.rate())
        cores.close()
        episodes = list(drafts(texts, prefix=f"load/{size[0]}/{turn}"))
        ours.append(count / load(engine, fresh_scope("load"), episodes))
        _check_searchable(engine, texts[-1])
    return Result(name, median(ours), "notes/s", median(reference), at_least(0.5))


def _check_searchable(engine: Engine, text: str) -> None:
    found = find_passages(engine, writer(), fresh_scope("load"), PassageQuery(text[:200]))
    assert any(hit.text == text for hit in found), "a loaded note is not found by its own words"
