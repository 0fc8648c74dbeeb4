"""Turns text into lexemes, the same way for the index and for queries.

`tokens` finds the tokens, `lexemes` says what each is found by; here they are counted. A change
of any of the three changes `FINGERPRINT`, and a changed fingerprint is a rebuild beside.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Final

from memory.domain.lexemes import lexemes_of
from memory.domain.tokens import find_tokens

FINGERPRINT: Final = "words-2"
"""Names what lexemes a text has; an index of another fingerprint has to be rebuilt."""

MAX_QUERY_TERMS: Final = 64
"""Terms of a query that are looked for: longer ones are whole documents, whose first words say
what they are about; each term is a list to be read."""

_CACHE_LIMIT: Final = 100_000
_CACHED_CHARS: Final = 40
"""Longer tokens hardly come again, and a cache of them has no bounds."""


@dataclass(frozen=True, slots=True)
class Lexemes:
    """What a text says, as the index counts it.

    Args:
        terms: each lexeme and how often it stands in the text.
        length: how many lexemes the text has, repeats counted.
    """

    terms: dict[str, int]
    length: int


class _Cache(dict[str, tuple[str, ...]]):
    """From a token as it is written to its lexemes; a plain lookup once it is known."""

    def __missing__(self, token: str) -> tuple[str, ...]:
        if len(self) > _CACHE_LIMIT:
            self.clear()
        held = lexemes_of(token)
        if len(token) <= _CACHED_CHARS:
            self[token] = held
        return held


_lexemes: Final = _Cache()


def analyze(text: str) -> Lexemes:
    """Return the lexemes of a text."""
    # Lookup and count are one loop in C: this bounds how fast everything can be loaded.
    terms = Counter(_each(find_tokens(text)))
    return Lexemes(terms, terms.total())


def query_terms(text: str) -> tuple[str, ...]:
    """Return the lexemes of a query, each once, in order, at most 64."""
    return tuple(dict.fromkeys(_each(find_tokens(text))))[:MAX_QUERY_TERMS]


def _each(tokens: Iterable[str]) -> Iterable[str]:
    return chain.from_iterable(map(_lexemes.__getitem__, tokens))
