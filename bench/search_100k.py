"""search_100k and its neighbours: what a search costs beside its parts, by hand."""

from time import perf_counter

from bench.by_hand import ByHand
from bench.corpus import EMBEDDER
from bench.engines import running_engine
from bench.figures import milliseconds, p50, percentile
from bench.notes import corpus_scope
from bench.report import Result, at_most
from bench.searching import QUESTIONS, WARM_UP, ask, asker, query_vector, with_meaning
from bench.store import Store
from memory.search.nearest import QueryVector
from memory.services.access import open_scope

_K = 10


def run(store: Store) -> list[Result]:
    """Take turns over the questions: hybrid, keyword alone, and each by hand."""
    scope, caller = corpus_scope(0), asker()
    hybrid, keyword, hand, floor, ranked = ([] for _ in range(5))
    with running_engine() as bare:
        engine = with_meaning(bare)
        with engine.index.reading() as cursor:
            context = open_scope(engine, cursor, caller, scope)
        assert context.scope_id is not None
        with ByHand.over(
            store.dsn,
            generation=context.generation,
            scope_id=context.scope_id,
            acl_sets=context.visible or (),
        ) as statements:
            statements.learn(QUESTIONS)
            for question in QUESTIONS:
                began = perf_counter()
                ask(engine, caller, scope, question)
                hybrid.append(perf_counter() - began)
                began = perf_counter()
                values = query_vector(engine, question)
                statements.empty()
                floor.append(perf_counter() - began)
                began = perf_counter()
                query_vector(engine, question)
                query = QueryVector(EMBEDDER, values.tolist())
                statements.hybrid(question, query, k=_K)
                hand.append(perf_counter() - began)
                began = perf_counter()
                ask(bare, caller, scope, question)
                keyword.append(perf_counter() - began)
                began = perf_counter()
                statements.ranked_by_text(question, k=_K)
                ranked.append(perf_counter() - began)
    times = [milliseconds(each[WARM_UP:]) for each in (hybrid, keyword, hand, floor, ranked)]
    ours, by_keyword, by_hand, least, by_rank = times
    return [
        Result("search_100k", p50(ours), "ms", p50(by_hand), at_most(1.0)),
        Result("search_100k.p95", percentile(ours, 0.95), "ms", p50(ours), at_most(3)),
        Result("search_100k.floor", p50(ours), "ms", p50(least), at_most(4)),
        Result("search_100k.keyword", p50(by_keyword), "ms", p50(by_rank), at_most(0.25)),
        Result("search_100k.keyword_p95", percentile(by_keyword, 0.95), "ms", p50(by_keyword)),
    ]
