"""The statements that somebody would write by hand for the same answers, over the same rows.

Keyword goes over a text index of its own; meaning over the product's vectors and graph. Both are
filtered by the ACL sets that the caller sees.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import psycopg

from bench.corpus import EMBEDDER, VECTOR_WIDTH
from memory.domain.tokens import find_tokens
from memory.search.nearest import QueryVector

_MADE: Final = (
    "CREATE TABLE IF NOT EXISTS bench_text AS SELECT rid, n, acl_set_id,"
    " to_tsvector('english', text) AS words FROM ampup_index.passages"
    " WHERE generation = %s AND scope_id = %s"
)
_EF: Final = 100
_NEAR: Final = 60
_CANDIDATES: Final = 400
_EXPECTED: Final = 1_500


@dataclass(frozen=True, slots=True)
class ByHand:
    """Statements over one scope of a generation."""

    connection: psycopg.Connection
    generation: int
    scope_id: int
    acl_sets: Sequence[int]

    @classmethod
    @contextmanager
    def over(
        cls, dsn: str, *, generation: int, scope_id: int, acl_sets: Sequence[int]
    ) -> Iterator["ByHand"]:
        """Make the text index and lend the statements; it goes with the bench's database."""
        options = (
            "-c plan_cache_mode=force_custom_plan -c jit=off -c search_path=ampup_index,public"
        )
        with psycopg.connect(dsn, autocommit=True, options=options) as connection:
            connection.execute(_MADE, (generation, scope_id))
            connection.execute("SET maintenance_work_mem = '256MB'")
            connection.execute(
                "CREATE INDEX IF NOT EXISTS bench_words ON bench_text USING gin (words)"
            )
            connection.execute("CREATE INDEX IF NOT EXISTS bench_rid ON bench_text (rid, n)")
            connection.execute("VACUUM ANALYZE bench_text")
            connection.execute(f"SET hnsw.ef_search = {_EF}")
            connection.execute("SET hnsw.iterative_scan = relaxed_order")
            yield cls(connection, generation, scope_id, list(acl_sets))

    def empty(self) -> None:
        """Make an empty round trip."""
        self.connection.execute("SELECT 1").fetchall()

    def ranked_by_text(self, question: str, *, k: int) -> list[Any]:
        """Rank the OR of all terms by ts_rank_cd."""
        return self.connection.execute(
            "SELECT rid, n FROM bench_text, to_tsquery('english', %s) AS query"
            " WHERE words @@ query AND acl_set_id = ANY(%s)"
            " ORDER BY ts_rank_cd(words, query) DESC LIMIT %s",
            (_any_of(find_tokens(question)), list(self.acl_sets), k),
        ).fetchall()

    def hybrid(self, question: str, query: QueryVector, *, k: int) -> list[Any]:
        """Find candidates by the rarest words and by the graph, compare them, read the best."""
        places = {tuple(row) for row in self._by_words(question)} | {
            tuple(row[:2]) for row in self._near(query)
        }
        compared = self.connection.execute(
            "SELECT rid, n, 1 - (vector <=> %s::halfvec) AS cosine FROM vectors"
            " WHERE generation = %s AND scope_id = %s AND rid = ANY(%s) AND embedder = %s"
            " ORDER BY 3 DESC",
            (query.literal, self.generation, self.scope_id, [rid for rid, _ in places], EMBEDDER),
        ).fetchall()
        best = [rid for rid, _, _ in compared[:k]]
        return self.connection.execute(
            "SELECT passage.rid, passage.n, passage.text, row.source FROM passages AS passage"
            " JOIN episode_rows AS row USING (generation, scope_id, rid)"
            " WHERE generation = %s AND scope_id = %s AND rid = ANY(%s)",
            (self.generation, self.scope_id, best),
        ).fetchall()

    def _by_words(self, question: str) -> list[Any]:
        words = self._rarest(question)
        if not words:
            return []
        return self.connection.execute(
            "SELECT rid, n FROM bench_text WHERE words @@ to_tsquery('english', %s)"
            " AND acl_set_id = ANY(%s) LIMIT %s",
            (_any_of(words), list(self.acl_sets), _CANDIDATES),
        ).fetchall()

    def _rarest(self, question: str) -> list[str]:
        """Return words from the rarest up while so many matches are expected."""
        chosen: list[str] = []
        expected = 0
        for word, count in sorted(
            ((word, _frequencies[word]) for word in find_tokens(question) if word in _frequencies),
            key=lambda pair: pair[1],
        ):
            if chosen and expected + count > _EXPECTED:
                break
            chosen.append(word)
            expected += count
        return chosen

    def _near(self, query: QueryVector) -> list[Any]:
        return self.connection.execute(
            _NEAREST,
            (query.literal, self.generation, self.scope_id, EMBEDDER, list(self.acl_sets), _NEAR),
        ).fetchall()

    def learn(self, questions: Sequence[str]) -> None:
        """Count in how many rows the words of the questions stand: a table of frequencies."""
        words = sorted({word for question in questions for word in find_tokens(question)})
        for word in words:
            row = self.connection.execute(
                "SELECT count(*) FROM bench_text WHERE words @@ to_tsquery('english', %s)",
                (_any_of([word]),),
            ).fetchone()
            _frequencies[word] = row[0] if row else 0


_NEAREST: Final = f"""
SELECT rid, n, vector::halfvec({VECTOR_WIDTH}) <=> %s::halfvec FROM vectors
WHERE generation = %s AND scope_id = %s AND embedder = %s
  AND vector_dims(vector) = {VECTOR_WIDTH} AND acl_set_id = ANY(%s)
ORDER BY 3 LIMIT %s
"""  # noqa: S608 -- a width of ours
_frequencies: Final[dict[str, int]] = {}


def _any_of(words: Sequence[str]) -> str:
    return " | ".join("'" + word.replace("'", "''") + "'" for word in words)
