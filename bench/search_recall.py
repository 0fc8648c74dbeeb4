"""search_recall: the first ten against a ranker that compares with every row."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from bench.corpus import EMBEDDER
from bench.engines import running_engine
from bench.figures import milliseconds, p50
from bench.notes import corpus_scope
from bench.report import Result, at_most, value_at_least
from bench.searching import QUESTIONS, ask, asker, query_vector, seconds_of, with_meaning
from bench.store import Store
from memory.domain.analyzer import query_terms
from memory.domain.fusion import fuse, keyword_alone
from memory.domain.ranking import keyword_scores
from memory.engine import Engine
from memory.search.segments import read_corpus
from memory.services.access import open_scope

_K = 10
_ASKED = 60
_FIFTH = tuple(range(26))
"""Groups that see about a fifth of the corpus: an ACL names 3.5 of 400 groups."""

_HUNDREDTH = (1,)


class Brute:
    """Every vector of a scope in memory."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope
        with engine.index.reading() as cursor:
            context = open_scope(engine, cursor, asker(), scope)
            rows = cursor.execute(
                "SELECT rid, n, vector::vector::real[] FROM ampup_index.vectors"
                " WHERE generation = %s AND scope_id = %s AND embedder = %s",
                (context.generation, context.scope_id, EMBEDDER),
            ).fetchall()
        self._places = {(rid, n): number for number, (rid, n, _) in enumerate(rows)}
        self._vectors = np.array([row[2] for row in rows], np.float32)

    def best(self, caller: Caller, question: str, *, meaning: bool) -> list[str]:
        """Return (rid, n) of the first ten, as text."""
        with self._engine.index.snapshot() as cursor:
            context = open_scope(self._engine, cursor, caller, self._scope)
            corpus = read_corpus(cursor, context, query_terms(question))
        keyword = keyword_scores(corpus)
        places = np.flatnonzero(corpus.seen)
        if meaning:
            fused = fuse(keyword, places, self._cosines(corpus.rids[places], question))
        else:
            fused = keyword_alone(keyword, places)
        order = np.lexsort((places, -corpus.rids[places], -fused.totals))[:_K]
        found = [at for at in order.tolist() if fused.totals[at] > 0]
        return [str(corpus.place_in_episode(int(places[at]))[0]) for at in found]

    def _cosines(self, rids: npt.NDArray[np.int64], question: str) -> npt.NDArray[np.float64]:
        values = query_vector(self._engine, question)
        cosines = (self._vectors @ values) / np.linalg.norm(self._vectors, axis=1)
        # Each text of the corpus is one passage.
        at = [self._places[rid, 1] for rid in rids.tolist()]
        of_each: npt.NDArray[np.float64] = cosines[at].astype(np.float64)
        return of_each


def run(store: Store) -> list[Result]:
    """Compare for one who sees everything, a fifth and a hundredth."""
    scope = corpus_scope(0)
    questions = QUESTIONS[:20] if store.small else QUESTIONS[:_ASKED]
    results = []
    with running_engine() as bare:
        engine = with_meaning(bare)
        brute = Brute(engine, scope)
        callers = {"": asker(), ".fifth": asker(*_FIFTH), ".hundredth": asker(*_HUNDREDTH)}
        for name, caller in callers.items():
            hybrid = _recall(engine, brute, caller, scope, questions, meaning=True)
            bench = "search_recall" if not name else f"search_recall.narrow_acl{name}"
            results.append(Result(bench, hybrid, "share", None, value_at_least(0.98)))
        keyword = _recall(bare, brute, asker(), scope, questions, meaning=False)
        results.append(
            Result("search_recall.keyword", keyword, "share", None, value_at_least(0.98))
        )
        times = {name: _p50(engine, caller, scope) for name, caller in callers.items()}
    for name in (".fifth", ".hundredth"):
        bench = f"search_recall.narrow_time{name}"
        results.append(Result(bench, times[name], "ms", times[""], at_most(2)))
    return results


def _recall(
    engine: Engine,
    brute: Brute,
    caller: Caller,
    scope: Scope,
    questions: Sequence[str],
    *,
    meaning: bool,
) -> float:
    shares = []
    for question in questions:
        expected = brute.best(caller, question, meaning=meaning)
        ids = _rids(engine, caller, scope, question)
        if expected:
            shares.append(len(set(expected) & set(ids)) / len(expected))
    return sum(shares) / len(shares)


def _rids(engine: Engine, caller: Caller, scope: Scope, question: str) -> list[str]:
    """Return the rows of the first ten."""
    ids = [bytes.fromhex(hit.episode_id) for hit in ask(engine, caller, scope, question)]
    with engine.index.reading() as cursor:
        context = open_scope(engine, cursor, caller, scope)
        rows = cursor.execute(
            "SELECT rid FROM ampup_index.episode_rows WHERE generation = %s AND scope_id = %s"
            " AND episode_id = ANY(%s)",
            (context.generation, context.scope_id, ids),
        ).fetchall()
    return [str(rid) for (rid,) in rows]


def _p50(engine: Engine, caller: Caller, scope: Scope) -> float:
    return p50(milliseconds(seconds_of(engine, caller, scope, QUESTIONS[:_ASKED])))
