"""Which script a text is written in."""

import unicodedata
from collections import Counter
from typing import Final

_READ_CHARS: Final = 1_000
_NAMES: Final = {
    "LATIN": "Latin",
    "FULLWIDTH": "Latin",
    "CYRILLIC": "Cyrillic",
    "GREEK": "Greek",
    "ARABIC": "Arabic",
    "HEBREW": "Hebrew",
    "DEVANAGARI": "Devanagari",
    "THAI": "Thai",
    "CJK": "Han",
    "HIRAGANA": "Kana",
    "KATAKANA": "Kana",
    "HANGUL": "Hangul",
}
NO_LETTERS: Final = "none"


def script_of(text: str) -> str:
    """Return the script of most of a text's first letters, `other` for one without a name here.

    A text without letters, like a number, has the script `none`.
    """
    shown = text[:_READ_CHARS]
    if shown.isascii():
        return "Latin" if any(map(str.isalpha, shown)) else NO_LETTERS
    letters = Counter(unicodedata.name(one, "").partition(" ")[0] for one in shown if one.isalpha())
    scripts = Counter[str]()
    for name, count in letters.items():
        scripts[_NAMES.get(name, "other")] += count
    return scripts.most_common(1)[0][0] if scripts else NO_LETTERS
