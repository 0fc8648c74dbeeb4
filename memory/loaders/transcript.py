"""Transcripts of calls and meetings: lines of `Name: text`, each with or without a time."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from ampup_site.kernel.clock import Micros
from memory.domain.units import UnitKind, split_units
from memory.loaders.decoding import decode_text
from memory.loaders.item import FileItem, Loaded, Refusal

SOURCE_PREFIX: Final = "meeting:"
_SPEAKERS: Final = 2
_TURNS: Final = 4
_LOOKED_AT: Final = 20_000


def is_transcript(text: str) -> bool:
    """Say whether a text reads like people taking turns, and not like prose with some colons.

    At least two names speak, at least four times, and on average each speaks twice or more.
    """
    units = split_units(text[:_LOOKED_AT], UnitKind.TURN)
    names = [unit.speaker for unit in units if unit.speaker]
    return len(names) >= max(_TURNS, 2 * len(set(names))) and len(set(names)) >= _SPEAKERS


def read_transcript(
    content: bytes, *, name: str, occurred_at: Micros | None, source: str | None = None
) -> Iterator[Loaded]:
    """Yield the one episode that a transcript is; its body is the file's text, verbatim.

    Args:
        name: the file's name or relative path; its stem names the source unless `source` does.
    """
    body = decode_text(content)
    if isinstance(body, Refusal):
        yield 1, body
        return
    if all(unit.speaker is None for unit in split_units(body, UnitKind.TURN)):
        yield 1, Refusal("No line reads like `Name: text`; load it as a document.", "body")
        return
    stem = PurePosixPath(name).with_suffix("").as_posix()
    yield 1, FileItem(source=source or SOURCE_PREFIX + stem, body=body, occurred_at=occurred_at)
