"""Turns text into lexemes, the same way for the index and for queries.

The simplest honest analyzer: words in NFKC and case-folded, with English stems. What comes
later (identifiers and their parts, languages, fields) changes `FINGERPRINT`, and a changed
fingerprint is a rebuild beside.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import Stemmer

FINGERPRINT: Final = "words-1"
"""Names what lexemes a text has; an index of another fingerprint has to be rebuilt."""

MAX_QUERY_TERMS: Final = 64
"""Terms of a query that are looked for: longer ones are whole documents, whose first words say
what they are about; each term costs one count over its matches."""

_WORD: Final = re.compile(r"\w+")
_LONG_BYTES: Final = 200
"""Longer words are cut and told apart by a hash: a lexeme must stay below Postgres' 2 KB."""

_CACHE_LIMIT: Final = 200_000


@dataclass(frozen=True, slots=True)
class Lexemes:
    """What a text says, as the index counts it.

    Args:
        terms: each lexeme and how often it stands in the text.
        length: how many words the text has.
    """

    terms: dict[str, int]
    length: int


class _Cache(dict[str, str]):
    """From a word as it is written to its lexeme; a plain lookup once a word is known."""

    def __init__(self) -> None:
        super().__init__()
        self._stem = Stemmer.Stemmer("english", 0).stemWord

    def __missing__(self, word: str) -> str:
        if len(self) > _CACHE_LIMIT:
            self.clear()
        folded = unicodedata.normalize("NFC", word.casefold())
        lexeme: str = self._stem(folded)
        encoded = lexeme.encode()
        if len(encoded) > _LONG_BYTES:
            digest = hashlib.sha256(encoded).hexdigest()[:16]
            lexeme = f"{encoded[:100].decode(errors='ignore')}~{digest}"
        self[word] = lexeme
        return lexeme


_lexemes: Final = _Cache()


def analyze(text: str) -> Lexemes:
    """Return the lexemes of a text."""
    words = _words(text)
    # Lookup and count are one loop in C: this bounds how fast everything can be loaded.
    return Lexemes(Counter(map(_lexemes.__getitem__, words)), len(words))


def query_terms(text: str) -> tuple[str, ...]:
    """Return the lexemes of a query, each once, in order, at most 64."""
    return tuple(dict.fromkeys(_each(_words(text))))[:MAX_QUERY_TERMS]


def _each(words: Iterable[str]) -> Iterable[str]:
    return (_lexemes[word] for word in words)


def _words(text: str) -> list[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _WORD.findall(text)
