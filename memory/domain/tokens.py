"""Finds the tokens of a text: words, and whole identifiers, numbers, addresses and emoji.

A token runs over what joins its parts (`OPS-1181`, `a.b@c.org`, `/etc/hosts`, `don't`), so that
the whole can be looked for as well as its parts.
"""

import re
import unicodedata
from itertools import pairwise
from typing import Final

_MARKED: Final = (
    *((0x0300, 0x2000), (0x20D0, 0x20F1), (0x302A, 0x309B), (0xA66F, 0xABEE), (0xFB1E, 0xFB1F)),
    *((0xFE20, 0xFE30), (0x10A01, 0x11FFF), (0x1E000, 0x1E94B)),
)
"""Where Unicode keeps combining marks: `\\w` leaves them out, and would cut Hindi at its vowels."""


def _marks() -> str:
    """Return the combining marks as ranges of a character class."""
    held = [
        code
        for first, end in _MARKED
        for code in range(first, end)
        if unicodedata.category(chr(code))[0] == "M"
    ]
    starts = [held[0], *(after for before, after in pairwise(held) if after != before + 1)]
    ends = [*(before for before, after in pairwise(held) if after != before + 1), held[-1]]
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))


_JOINT: Final = r"[-._/\\@:'&+=]|(?<=\d),(?=\d{3}(?!\d))"
_ENDING: Final = r"(?:\+\+|\#(?!\w))?"
_ASCII: Final = re.compile(rf"[#@]?\w+(?:(?:{_JOINT})\w+)*{_ENDING}", re.ASCII)

_LETTER: Final = rf"[\w{_marks()}\u200c\u200d]"
_EMOJI: Final = "[\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
_SKIN: Final = "[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]"
_ANY: Final = re.compile(
    rf"[#@]?\w{_LETTER}*(?:(?:{_JOINT})\w{_LETTER}*)*{_ENDING}"
    rf"|{_EMOJI}{_SKIN}*(?:\u200d{_EMOJI}{_SKIN}*)*"
)

DENSE: Final = re.compile(
    "(?P<ideographs>[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]+)"
    "|(?P<syllables>[\uac00-\ud7af]+)"
    "|(?P<letters>[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+)"
)
"""Runs of scripts that set no space between words, or, in Korean, none before endings."""

_QUOTES: Final = str.maketrans("\u2018\u2019\u02bc\uff07", "''''")


def find_tokens(text: str) -> list[str]:
    """Return the tokens of a text in order, in NFKC, in the letter case they are written in."""
    if text.isascii():
        return _ASCII.findall(text)
    return _ANY.findall(unicodedata.normalize("NFKC", text).translate(_QUOTES))
