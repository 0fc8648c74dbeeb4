"""Small statistics over measured times."""

from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest observed value that at least `share` of them do not exceed."""
    ordered = sorted(values)
    place = -(-len(ordered) * share // 1)
    return ordered[max(0, min(len(ordered), int(place)) - 1)]


def p50(values: Sequence[float]) -> float:
    """Return the median."""
    return median(values)


def milliseconds(seconds: Sequence[float]) -> list[float]:
    """Return seconds as milliseconds."""
    return [1_000 * value for value in seconds]


def timed(step: Callable[[], object]) -> float:
    """Run a step and return the seconds it took."""
    began = perf_counter()
    step()
    return perf_counter() - began
