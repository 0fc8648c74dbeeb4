"""What the search benches share: the fixed questions, who asks, an embedder over drawn vectors."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Final

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from accounts.domain.caller import Caller
from accounts.domain.roles import Role
from accounts.domain.scope import Scope
from bench.corpus import EMBEDDER, GROUPS, draw_vectors
from memory.embedding.embedder import Pieces
from memory.embedding.local import MiniLM
from memory.embedding.meaning import Meaning
from memory.engine import Engine
from memory.services.search import PassageHit, PassageQuery, find_passages

QUESTIONS: Final = Path(__file__).with_name("questions.txt").read_text().splitlines()
"""200 questions in the corpus's invented words, every other one in the words of one passage."""

WARM_UP: Final = 15


class OverDrawn(MiniLM):
    """Computes a query's vector as the product does, and answers a drawn one.

    The corpus's vectors are drawn around some centres; a real question's lies near none of them.
    """

    @property
    @override
    def fingerprint(self) -> str:
        return EMBEDDER

    @override
    def embed(self, texts: Sequence[str]) -> list[Pieces]:
        super().embed(texts)
        return [draw_vectors(1, stream=_stream(text)) for text in texts]


def _stream(text: str) -> int:
    return 10**6 + sum(text.encode()) * 31 + len(text)


def with_meaning(engine: Engine) -> Engine:
    """Return the engine with an embedder whose vectors fit the corpus."""
    return replace(engine, meaning=Meaning(OverDrawn()))


def asker(*groups: int) -> Caller:
    """Return a reader of these groups of the corpus; of all without any."""
    named = groups or range(GROUPS)
    return Caller(
        author="user:asker",
        role=Role.READER,
        user="asker",
        groups=tuple(f"g{group:03d}" for group in named),
    )


def ask(engine: Engine, caller: Caller, scope: Scope, question: str) -> tuple[PassageHit, ...]:
    """Search as one service call."""
    return find_passages(engine, caller, scope, PassageQuery(question))


def seconds_of(
    engine: Engine, caller: Caller, scope: Scope, questions: Sequence[str]
) -> list[float]:
    """Return how long each question took."""
    times = []
    for question in questions:
        began = perf_counter()
        ask(engine, caller, scope, question)
        times.append(perf_counter() - began)
    return times


def query_vector(engine: Engine, question: str) -> npt.NDArray[np.float32]:
    """Return a question's vector, computed and drawn."""
    assert engine.meaning is not None
    [pieces] = engine.meaning.embedder.embed([question])
    vector: npt.NDArray[np.float32] = pieces[0]
    return vector
