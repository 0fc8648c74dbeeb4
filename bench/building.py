"""Builds the corpus by the product's own load path; what it writes is kept and given back."""

import sys

from django.core.management import call_command

from accounts.services.orgs import create_team
from bench.corpus import EMBEDDER, PASSAGE_BYTES, TextSource, draw_acls, place_in_scopes
from bench.engines import running_engine
from bench.loading import load
from bench.notes import FRESH, WIDE_SCOPES, corpus_scope, drafts, fresh_scope, wide_scope, writer
from bench.store import Store
from bench.vectors import move_and_index, put_in_tail
from memory.engine import Engine
from memory.search.folding import fold_waiting
from memory.search.heads import live_head


def build(store: Store) -> None:
    """Fill an empty store with the corpus, its vectors and the scopes the benches use."""
    store.begin_building()
    call_command("migrate", verbosity=0)
    with running_engine() as engine:
        _make_scopes(engine, store)
        acls = draw_acls(store.shape.acl_sets)
        for place, count in enumerate(place_in_scopes(store.shape)):
            texts = TextSource(stream=100 + place).texts(count, PASSAGE_BYTES)
            load(engine, corpus_scope(place), drafts(texts, prefix=f"corpus/{place}", acls=acls))
            print(f"corpus: scope {place} of {store.shape.scopes} holds {count}", file=sys.stderr)
        put_in_tail(engine, embedder=EMBEDDER)
        move_and_index(engine)
        _settle(engine)
    store.keep_built()


def _make_scopes(engine: Engine, store: Store) -> None:
    scopes = [
        *(corpus_scope(place) for place in range(store.shape.scopes)),
        *(wide_scope(place) for place in range(WIDE_SCOPES)),
        *(fresh_scope(name) for name in FRESH),
    ]
    for scope in scopes:
        create_team(writer(), name=str(scope.team), org=scope.org, clock=engine.clock)


def _settle(engine: Engine) -> None:
    """Leave nothing for the first bench to pay: pending lists, hint bits, statistics."""
    with engine.index.connect(application="bench") as connection:
        with connection.cursor() as cursor:
            head = live_head(cursor)
        fold_waiting(connection, head)
        connection.execute("VACUUM ANALYZE")
