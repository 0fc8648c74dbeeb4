"""Builds the corpus by the product's own load path; what it writes is kept and given back."""

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from django.core.management import call_command

from accounts.services.orgs import create_team
from bench.corpus import (
    EMBEDDER,
    PASSAGE_BYTES,
    VECTOR_WIDTH,
    TextSource,
    draw_acls,
    draw_vectors,
    place_in_scopes,
)
from bench.engines import running_engine
from bench.notes import FRESH, WIDE_SCOPES, corpus_scope, drafts, fresh_scope, wide_scope, writer
from bench.store import Store
from memory.domain.pending import Pending
from memory.engine import Engine
from memory.search.heads import live_head
from memory.search.upkeep import flush_text, move_vectors
from memory.search.vectors import PassageVector, add_vectors, create_vector_index
from memory.services.episodes import Ingested, ingest
from memory.services.preparing import EpisodeDraft

_CHUNK: Final = 400
_IN_FLIGHT: Final = 3
_VECTOR_CHUNK: Final = 2_000


def build(store: Store) -> None:
    """Fill an empty store with the corpus, its vectors and the scopes the benches use."""
    store.begin_building()
    call_command("migrate", verbosity=0)
    with running_engine() as engine:
        _make_scopes(engine, store)
        acls = draw_acls(store.shape.acl_sets)
        for place, count in enumerate(place_in_scopes(store.shape)):
            texts = TextSource(stream=100 + place).texts(count, PASSAGE_BYTES)
            _load(engine, place, list(drafts(texts, prefix=f"corpus/{place}", acls=acls)))
            print(f"corpus: scope {place} of {store.shape.scopes} holds {count}", file=sys.stderr)
        _add_vectors(engine)
    store.keep_built()


def _make_scopes(engine: Engine, store: Store) -> None:
    scopes = [
        *(corpus_scope(place) for place in range(store.shape.scopes)),
        *(wide_scope(place) for place in range(WIDE_SCOPES)),
        *(fresh_scope(name) for name in FRESH),
    ]
    for scope in scopes:
        create_team(writer(), name=str(scope.team), org=scope.org, clock=engine.clock)


def _load(engine: Engine, place: int, episodes: list[EpisodeDraft]) -> None:
    waiting: deque[Pending[Ingested]] = deque()
    scope = corpus_scope(place)
    for chunk in _chunks(episodes, _CHUNK):
        waiting.append(ingest(engine, writer(), scope, chunk))
        if len(waiting) > _IN_FLIGHT:
            waiting.popleft().wait(timeout=120)
    for pending in waiting:
        pending.wait(timeout=120)


def _add_vectors(engine: Engine) -> None:
    """Draw a vector for each passage; index them at once, far cheaper than one by one."""
    with engine.index.connect(application="bench") as connection, connection.cursor() as cursor:
        head = live_head(cursor)
        places = cursor.execute(
            "SELECT scope_id, rid, n FROM ampup_index.passages WHERE generation = %s"
            " ORDER BY scope_id, rid, n",
            (head.generation,),
        ).fetchall()
        drawn = draw_vectors(len(places), stream=0)
        for start in range(0, len(places), _VECTOR_CHUNK):
            chunk = places[start : start + _VECTOR_CHUNK]
            with connection.transaction():
                for scope_id in sorted({place[0] for place in chunk}):
                    vectors = [
                        PassageVector(rid, n, EMBEDDER, 0, drawn[start + at].tolist())
                        for at, (held, rid, n) in enumerate(chunk)
                        if held == scope_id
                    ]
                    add_vectors(
                        cursor, generation=head.generation, scope_id=scope_id, vectors=vectors
                    )
        while move_vectors(connection, head, limit=20_000):
            pass
        connection.execute("SET maintenance_work_mem = '512MB'")
        create_vector_index(connection, generation=head.generation, width=VECTOR_WIDTH)
        flush_text(connection, head)
        connection.execute("VACUUM ANALYZE")


def _chunks(items: Sequence[EpisodeDraft], size: int) -> Iterator[list[EpisodeDraft]]:
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk
