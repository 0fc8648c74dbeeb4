"""Turns one token into the lexemes it is looked for by: the whole, its parts, their stems.

Rules, each with a golden test: an identifier is found whole and by its parts; a word by its stem,
with and without its accents; a number however its thousands are set; a run of a script without
spaces by its neighbouring characters.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

import Stemmer

from memory.domain.tokens import DENSE

_LONG_BYTES: Final = 200
"""Longer lexemes are cut and told apart by a hash, so that no text makes an index of itself."""

_PLAIN: Final = re.compile(r"[a-z]+|[A-Z]?[a-z]*", re.ASCII)
_PLACES: Final = re.compile(r"[/\\@:=&]+")
_PARTS: Final = re.compile(r"[-._+,]+")
_CAMEL: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z](?=[A-Z])|[A-Z]?[^\WA-Z\d_]+|\d+")
_CAMEL_JOINT: Final = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-z]")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3})")
_SHORT_NUMBER: Final = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)(k|m|bn?)")
_TIMES: Final = {"k": 10**3, "m": 10**6, "b": 10**9, "bn": 10**9}
_VERSION: Final = re.compile(r"v(?=\d)")
_NOT: Final = {"ca": "can", "wo": "will", "sha": "shall"}
_CLITICS: Final = frozenset(("s", "re", "ve", "ll", "d", "m"))
_SKIN: Final = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
_JOINERS: Final = re.compile("[\u200c\u200d\u0640]")

_STEMMERS: Final = {
    script: Stemmer.Stemmer(language, 0).stemWord
    for script, language in (
        ("LATIN", "english"),
        ("CYRILLIC", "russian"),
        ("GREEK", "greek"),
        ("ARABIC", "arabic"),
        ("DEVANAGARI", "hindi"),
    )
}
"""By script: a text's language is not known from a query of one word. English endings are taken
off all of Latin, which costs other languages a little and never the word itself."""

_MARKS_DROPPED: Final = frozenset(("ARABIC", "HEBREW"))
"""Vowel signs that most writers leave out; elsewhere a word is found with and without its marks."""


def lexemes_of(token: str) -> tuple[str, ...]:
    """Return the lexemes of a token of `find_tokens`; at least one, none twice in a row."""
    if _PLAIN.fullmatch(token):
        return (_cut(_STEMMERS["LATIN"](token.lower())),)
    found = dict.fromkeys(_cut(lexeme) for lexeme in _all(token) if lexeme)
    return tuple(found) or (_cut(token.casefold()),)


def _all(token: str) -> Iterator[str]:
    if not token[-1].isalnum() and not any(map(str.isalnum, token)):
        yield from _emoji(token)
        return
    if token[0] in "#@":
        yield token.casefold()
        token = token[1:]
    token = _THOUSANDS.sub("", token)
    places = [place for place in _PLACES.split(token) if place]
    if len(places) > 1:
        yield token.casefold()
    for place in places:
        yield from _place(place)


def _emoji(token: str) -> Iterator[str]:
    plain = _SKIN.sub("", token)
    yield plain
    yield from plain.split("\u200d")


def _place(place: str) -> Iterator[str]:
    """Yield the lexemes of what stands between slashes, colons and the like."""
    if "'" in place:
        yield from _apostrophes(place)
        return
    parts = [part for part in _PARTS.split(place) if part]
    folded = place.casefold()
    if len(parts) > 1 or folded.endswith(("+", "#")):
        yield folded
        if _VERSION.match(folded):
            yield folded[1:]
        if "".join(parts).isalpha() and "-" in place:
            yield from _word("".join(parts))
    amount = _SHORT_NUMBER.fullmatch(folded)
    if amount is not None:
        yield f"{float(amount[1]) * _TIMES[amount[2]]:.0f}"
    for part in parts:
        yield from _part(part, among_others=len(parts) > 1)


def _apostrophes(place: str) -> Iterator[str]:
    """Yield `term` for `term's`, `dont do not` for `don't`, `obrien o brien` for `O'Brien`."""
    stem, _, tail = place.rpartition("'")
    tail = tail.casefold()
    if tail in _CLITICS:
        yield from _place(stem)
        return
    if tail == "t" and stem[-1:].casefold() == "n":
        base = stem[:-1].casefold()
        yield f"{base}nt"
        yield from _word(_NOT.get(base, base))
        yield "not"
        return
    yield from _word(place.replace("'", ""))
    for part in place.split("'"):
        if part:
            yield from _place(part)


def _part(part: str, *, among_others: bool) -> Iterator[str]:
    yield from _word(part)
    if among_others and part.isdecimal():
        yield part.lstrip("0") or "0"
    if "_" in part or _CAMEL_JOINT.search(part):
        for word in _CAMEL.findall(part):
            yield from _word(word)


def _word(word: str) -> Iterator[str]:
    """Yield the lexemes of a word without anything that joins."""
    end = 0
    for run in DENSE.finditer(word):
        if run.start() > end:
            yield from _stems(word[end : run.start()])
        yield from _grams(run.group(), str(run.lastgroup))
        end = run.end()
    if end < len(word):
        yield from _stems(word[end:])


def _grams(run: str, kind: str) -> Iterator[str]:
    """Yield what a run is found by: single characters and pairs, or pairs and threes.

    Source: lessons, section 8, trap 2; pairs alone would lose a query of one character.
    """
    sizes = {"ideographs": (1, 2), "syllables": (2, len(run)), "letters": (2, 3)}[kind]
    if len(run) <= min(sizes):
        yield run
        return
    for size in dict.fromkeys(sizes):
        for start in range(len(run) - size + 1):
            yield run[start : start + size]


def _stems(word: str) -> Iterator[str]:
    folded = unicodedata.normalize("NFC", _JOINERS.sub("", word.casefold()))
    script = _script(folded)
    bare = _without_marks(folded) if script != "DEVANAGARI" else folded
    if script not in _MARKS_DROPPED:
        yield _stem(script, folded)
    if bare != folded or script in _MARKS_DROPPED:
        yield _stem(script, bare)


def _stem(script: str, word: str) -> str:
    stem = _STEMMERS.get(script)
    return word if stem is None else stem(word) or word


def _script(word: str) -> str:
    if word.isascii():
        return "LATIN"
    letter = next((one for one in word if one.isalpha()), word[0])
    return unicodedata.name(letter, "").partition(" ")[0]


def _without_marks(word: str) -> str:
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    bare = "".join([one for one in apart if unicodedata.category(one) != "Mn"])
    return unicodedata.normalize("NFC", bare) or word


def _cut(lexeme: str) -> str:
    encoded = lexeme.encode()
    if len(encoded) <= _LONG_BYTES:
        return lexeme
    digest = hashlib.sha256(encoded).hexdigest()[:16]
    return f"{encoded[:100].decode(errors='ignore')}~{digest}"
