"""A bulk load as the product does it: chunks, a few on their way at once."""

from collections import deque
from collections.abc import Iterable
from itertools import islice
from time import perf_counter
from typing import Final

from accounts.domain.scope import Scope
from bench.notes import writer
from memory.domain.pending import Pending
from memory.engine import Engine
from memory.services.episodes import Ingested, ingest
from memory.services.preparing import EpisodeDraft

CHUNK: Final = 400
_IN_FLIGHT: Final = 3
_TIMEOUT: Final = 120.0


def load(
    engine: Engine, scope: Scope, episodes: Iterable[EpisodeDraft], *, job_id: str | None = None
) -> float:
    """Load episodes into a scope; return the seconds until the last of them can be found."""
    waiting: deque[Pending[Ingested]] = deque()
    rest = iter(episodes)
    began = perf_counter()
    while chunk := list(islice(rest, CHUNK)):
        waiting.append(ingest(engine, writer(), scope, chunk, job_id=job_id))
        if len(waiting) > _IN_FLIGHT:
            waiting.popleft().wait(timeout=_TIMEOUT)
    for pending in waiting:
        pending.wait(timeout=_TIMEOUT)
    return perf_counter() - began
