"""Every constant of the ranking, with its reason.

Chosen on all sets of `make quality` at once; `bench/quality/README.md` has what each one bought.
"""

from typing import Final

from memory.domain.lexemes import lexemes_of

K1: Final = 1.2
B: Final = 0.75
"""Saturation and length normalisation.  Source: specification, section 9."""

FIELD_WEIGHTS: Final = (1.0, 0.6)
"""The body, and names: who speaks, title and document.  Source: architecture, section 6."""

FIELD_NAMES: Final = ("body", "names")

NEIGHBOUR_WEIGHT: Final = 0.3
"""A term in the passages before and after.  Source: architecture, section 6."""

NEIGHBOUR_FADING: Final = (1.0, 0.7, 0.49)
"""What the first, second and third neighbour count for: an answer may stand some turns after its
question, and less often the further away."""

NEIGHBOUR_MICROS: Final = 6 * 3600 * 10**6
"""Passages of one thread that lie further apart are two talks."""

STOP_WEIGHT: Final = 0.3
"""What a word that every text has counts for; it is never left out, since a query may have no
other, and it is not looked for in neighbours."""

ASSISTANT_FACTOR: Final = 0.75
"""What an assistant says is long, general and repeats the question; what is asked for is more
often what the person said."""

KEYWORD_SHARE: Final = 0.6
"""What keyword counts for at full coverage.  Source: specification, section 9."""

LEAST_KEYWORD_SHARE: Final = 0.1
"""What keyword counts for where no hit holds anything rare of the query."""

FULL_COVERAGE: Final = 0.8
"""A hit that holds so much of the query's weight holds all of it: questions have words of their
own that no answer has."""

COSINE_OFFSET: Final = 0.15
"""Cosines of texts that have nothing in common go below 0; shifted, differences among the weak
count as much as among the strong."""

CANDIDATES: Final = 200
"""Of the best by keyword, and of the nearest by meaning, so many are looked at: far more than are
shown, so that one that is good in both and best in neither is among them."""

WINDOW_SHARE: Final = 0.5
"""What occurred in the time that a query names comes first if its score reaches so much of the
best one's: a passing mention of that week is no answer."""

EXACT_BELOW: Final = 20_000
"""Visible passages up to which the nearest are looked for exactly.  Source: architecture,
section 6."""

ASSISTANTS: Final = frozenset(
    ("assistant", "ai", "ai assistant", "bot", "chatbot", "model", "chatgpt", "claude", "gemini")
)
"""Names of speakers that are no person."""

_STOP_WORDS: Final = (
    "a about again all also am an and any are as at be been but by can could did do does doing"
    " done for from get got had has have having he her here hers him his how i if in into is it"
    " its just me mine more most my no nor not of off on once one only or other our ours out over"
    " own she should so some such than that the their theirs them then there these they this those"
    " through to too up us very was we were what when where which while who whom whose why will"
    " with would you your yours"
)
STOP_LEXEMES: Final = frozenset(lexemes_of(word)[0] for word in _STOP_WORDS.split())


def term_weight(lexeme: str) -> float:
    """Return what a term of a query counts for beside its rarity: 0 to 1, above 0."""
    return STOP_WEIGHT if lexeme in STOP_LEXEMES else 1.0
