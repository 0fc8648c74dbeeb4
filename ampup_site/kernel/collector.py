"""Keeps Python's cycle collector from walking what makes no cycles."""

import gc
from typing import Final

_THRESHOLDS: Final = (50_000, 20, 50)
"""Rows of a load are a few objects each and no cycle: at the standard 700 the collector walked
them for a fourth of the time that a landing of 500 notes took."""


def spare_collector() -> None:
    """Leave what is loaded by now out of collections, and make them rarer; for good."""
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
