"""Judges JSON text before it is parsed: a parser makes an object of every bracket.

Millions of them in one body within the byte limit hold the interpreter's lock for many seconds,
for every caller of the process.
"""

import re
from typing import Final

MOST_CONTAINERS: Final = 100_000
"""Far above a full batch of episodes with labels; some tenths of a second to parse."""

_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
"""A string, an unfinished one as well, so that no byte is looked at twice."""


def is_crowded(content: bytes, *, most: int = MOST_CONTAINERS) -> bool:
    """Tell whether a JSON text opens more than `most` arrays and objects.

    Brackets within its strings are none. Text that is no JSON gets some answer, since the
    parser refuses it anyway.
    """
    return _opened(content) > most and _opened(_STRING.sub(b"", content)) > most


def _opened(content: bytes) -> int:
    return content.count(b"[") + content.count(b"{")
