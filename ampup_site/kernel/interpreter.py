"""How Python itself is set for a process whose committer shares it with many preparing threads."""

import gc
import sys
from typing import Final

_COLLECT_AFTER: Final = (50_000, 20, 50)
"""Rows of a load are a few objects each and no cycle: at the standard 700 the cycle collector
walked them for a fourth of the time that a landing of 500 notes took."""

_SWITCH_SECS: Final = 0.0005
"""How long a busy thread may keep the interpreter from one that has come back from the disk or
the database. The committer comes back some fifty times a landing; at the standard 5 ms that was
most of a landing's time beside clients that keep threads busy."""


def tune_interpreter() -> None:
    """Leave what is loaded by now out of collections, and let waiting threads in sooner."""
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)
    sys.setswitchinterval(_SWITCH_SECS)
