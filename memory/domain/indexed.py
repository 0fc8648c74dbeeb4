"""An episode's body as the index holds it: passages with their lexemes and compact terms."""

import hashlib
from dataclasses import dataclass

from memory.domain.analyzer import analyze
from memory.domain.passages import cut_passages
from memory.domain.postings import pack
from memory.domain.units import UnitKind, split_units


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """One passage's row without its place in history.

    Args:
        content: the first 16 bytes of the text's SHA-256; vectors are keyed by it.
        terms: the compact postings column.
        lexemes: how many words the passage has, repeats counted.
    """

    n: int
    first_unit: int
    last_unit: int
    content: bytes
    text: str
    terms: bytes
    lexemes: int


def content_key(text: str) -> bytes:
    """Return the 16 bytes that name a passage's text."""
    return hashlib.sha256(text.encode()).digest()[:16]


def index_body(body: str, kind: UnitKind) -> tuple[IndexedPassage, ...]:
    """Cut and analyze a body; the passages' texts put together are the body again."""
    rows = []
    for passage in cut_passages(body, split_units(body, kind)):
        lexemes = analyze(passage.text)
        rows.append(
            IndexedPassage(
                n=passage.n,
                first_unit=passage.first_unit,
                last_unit=passage.last_unit,
                content=content_key(passage.text),
                text=passage.text,
                terms=pack((lexemes,)),
                lexemes=lexemes.length,
            )
        )
    return tuple(rows)
