"""A bulk load by the product's own service, as the command and the background job call it."""

from collections.abc import Iterable
from time import perf_counter

from accounts.domain.scope import Scope
from bench.notes import writer
from memory.engine import Engine
from memory.services.loads import load_items
from memory.services.preparing import EpisodeDraft


def load(engine: Engine, scope: Scope, episodes: Iterable[EpisodeDraft]) -> float:
    """Load new episodes into a scope; return the seconds until the last of them can be found."""
    items = ((str(place), episode) for place, episode in enumerate(episodes))
    began = perf_counter()
    report = load_items(engine, writer(), scope, items)
    seconds = perf_counter() - began
    assert not report.refused, f"a load refused {report.refused[0].reason}"
    assert not report.repeated, "a load found its episodes there already"
    return seconds
