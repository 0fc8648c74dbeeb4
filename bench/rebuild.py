"""rebuild: passages a second into a new generation, against tokenizing alone on all cores."""

from typing import Final

from bench.corpus import NOTE_BYTES, PASSAGE_BYTES, TextSource, place_in_scopes
from bench.engines import running_engine
from bench.report import Result, at_least
from bench.store import Store
from bench.tokenizer import AllCores
from bench.write_growth import commit_notes, commits_of
from memory.engine import Engine
from memory.search.heads import live_head
from memory.services.indexing import rebuild, verify

GOES_ON_FROM: Final = "write_growth"


def run(store: Store) -> list[Result]:
    """Rebuild a store that holds a bulk load and the single commits, and prove the result."""
    with running_engine() as engine:
        if _commits(engine) < commits_of(store):
            commit_notes(engine, "growth", commits_of(store), stream=3)
        texts = _texts(store)
        cores = AllCores(texts)
        before = cores.rate()
        report = rebuild(engine)
        after = cores.rate()
        cores.close()
        passages = _passages(engine)
        damage = verify(engine)
    assert damage.clean, f"the rebuilt index is wrong: {damage.differences[:3]}"
    rate = passages / report.seconds
    return [
        Result("rebuild", rate, "passages/s", (before + after) / 2, at_least(0.6)),
        Result("rebuild.seconds", report.seconds, "s"),
    ]


def _texts(store: Store) -> list[str]:
    """Return what the store holds, as far as its tokens decide: the same mix of sizes."""
    texts = []
    for place, count in enumerate(place_in_scopes(store.shape)):
        texts += TextSource(stream=100 + place).texts(count, PASSAGE_BYTES)
    return texts + TextSource(stream=3).texts(commits_of(store), NOTE_BYTES)


def _commits(engine: Engine) -> int:
    """Return how many commits of one note the store has."""
    with engine.index.reading() as cursor:
        row = cursor.execute(
            "SELECT count(*) FROM ampup_index.commits WHERE generation = %s AND episode_count = 1",
            (live_head(cursor).generation,),
        ).fetchone()
    return int(row[0]) if row else 0


def _passages(engine: Engine) -> int:
    with engine.index.reading() as cursor:
        row = cursor.execute(
            "SELECT count(*) FROM ampup_index.passages WHERE generation = %s",
            (live_head(cursor).generation,),
        ).fetchone()
    return int(row[0]) if row else 0
