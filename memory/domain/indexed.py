"""An episode's body as the index holds it: passages with their fields as compact terms."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memory.domain.analyzer import Lexemes, analyze
from memory.domain.passages import cut_passages
from memory.domain.postings import ASSISTANT, pack
from memory.domain.units import Unit, UnitKind, split_units
from memory.domain.weights import ASSISTANTS

_TITLE: Final = re.compile(r"\s*(?:#{1,6}[ \t]+|(?i:subject):[ \t]*)([^\n]{1,200})")
_NAME: Final = re.compile(r"[^\W\d_]{3,}")
_NO_NAMES: Final = Lexemes({}, 0)


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


def index_body(
    body: str, kind: UnitKind, document: str | None = None
) -> tuple[IndexedPassage, ...]:
    """Cut and analyze a body; the passages' texts put together are the body again.

    Args:
        document: the document it is a version of; words of its name are found like a title's.
    """
    units = split_units(body, kind)
    title = _title(body, document)
    rows = []
    for passage in cut_passages(body, units):
        lexemes = analyze(passage.text)
        speakers = _speakers(units[passage.first_unit - 1 : passage.last_unit])
        names = " ".join((*speakers, *title))
        by_assistant = bool(speakers) and all(name.lower() in ASSISTANTS for name in speakers)
        rows.append(
            IndexedPassage(
                n=passage.n,
                first_unit=passage.first_unit,
                last_unit=passage.last_unit,
                content=content_key(passage.text),
                text=passage.text,
                terms=pack(
                    (lexemes, analyze(names) if names else _NO_NAMES),
                    flags=ASSISTANT if by_assistant else 0,
                ),
                lexemes=lexemes.length,
            )
        )
    return tuple(rows)


def _speakers(units: Sequence[Unit]) -> list[str]:
    """Return who speaks in the units, each once."""
    return list(dict.fromkeys(unit.speaker for unit in units if unit.speaker is not None))


def _title(body: str, document: str | None) -> list[str]:
    """Return a heading or subject that the body begins with, and the words of a document's name.

    Numbers and letters of a name are left out: `D1:5` is an id that nobody asks for by its 5.
    """
    heading = _TITLE.match(body)
    words = [] if heading is None else [heading[1]]
    return words if document is None else words + _NAME.findall(document)
