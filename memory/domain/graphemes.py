"""Where a text may be cut without parting what a reader sees as one character."""

import unicodedata
from typing import Final

_JOINER: Final = "\u200d"
"""What comes after it belongs to what stands before it, as in an emoji of a family."""


def inside_grapheme(text: str, cut: int, *, since: int = 0) -> bool:
    """Say whether a cut before `text[cut]` parts one seen character; flags count from `since`."""
    before, after = text[cut - 1], text[cut]
    if after.isascii():
        return before == "\r" and after == "\n"
    if _JOINER in (before, after) or _extends(after):
        return True
    return _is_flag(after) and _is_flag(before) and _flags_before(text, cut, since) % 2 == 1


def cut_before(text: str, limit: int) -> int:
    """Return the last place at or before `limit` where the text may be cut; `limit` if none is."""
    cut = limit
    while cut > 0 and cut < len(text) and inside_grapheme(text, cut):
        cut -= 1
    return cut or limit


def _extends(character: str) -> bool:
    code = ord(character)
    return (
        unicodedata.category(character).startswith("M")
        or 0x1F3FB <= code <= 0x1F3FF  # skin tones
        or 0xE0020 <= code <= 0xE007F  # tags of regional flags
        or 0x1160 <= code <= 0x11FF  # the second and third letter of a Korean syllable
    )


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, cut: int, since: int) -> int:
    count = 0
    while cut - 1 - count >= since and _is_flag(text[cut - 1 - count]):
        count += 1
    return count
