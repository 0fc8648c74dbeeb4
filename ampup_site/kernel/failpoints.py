"""Named points where a test may stop the process: how crashes are forced, not hoped for.

Nothing happens unless the environment variable `AMPUP_MEMORY_FAILPOINT` is set to
`<name>=<action>` pairs parted by `;`. Actions: `kill` (SIGKILL to oneself), `stop` (SIGSTOP),
`raise` (an OSError). `<name>@<n>=<action>` waits for the n-th time the point is reached.
"""

import os
import signal
import threading
from collections import Counter

_VARIABLE = "AMPUP_MEMORY_FAILPOINT"
_seen: Counter[str] = Counter()
_lock = threading.Lock()


def _plan() -> dict[str, tuple[int, str]]:
    plan: dict[str, tuple[int, str]] = {}
    for item in os.environ.get(_VARIABLE, "").split(";"):
        target, _, action = item.partition("=")
        name, _, nth = target.partition("@")
        if action:
            plan[name] = (int(nth or 1), action)
    return plan


_planned = _plan()


def reach(name: str) -> None:
    """Say that a point of a protocol was reached; costs one dictionary test when unused."""
    if not _planned:
        return
    with _lock:
        _seen[name] += 1
        count = _seen[name]
    nth, action = _planned.get(name, (0, ""))
    if count != nth:
        return
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif action == "raise":
        message = f"failpoint {name}"
        raise OSError(message)


def arm(plan: str) -> None:
    """Replace the plan in this process (tests of one process)."""
    os.environ[_VARIABLE] = plan
    _planned.clear()
    _planned.update(_plan())
    _seen.clear()
