"""Opens what `load` was given: one file, or every text of a folder, as items in a fixed order."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import NotFound
from memory.domain.acl import Acl
from memory.domain.job import RefusedItem, storable
from memory.domain.limits import MAX_BODY_BYTES
from memory.loaders.decoding import decode_text
from memory.loaders.document import read_document
from memory.loaders.item import FileItem, Loaded, Refusal
from memory.loaders.jsonl import read_jsonl
from memory.loaders.transcript import is_transcript, read_transcript
from memory.services.load_chunks import LoadItem
from memory.services.preparing import EpisodeDraft

SUFFIXES: Final = (".jsonl", ".md", ".txt")
_PIECE: Final = 2**20
_LARGEST_TEXT: Final = 2 * MAX_BODY_BYTES + 4
"""Bytes of a file in UTF-16 that is as long as a body may be in UTF-8."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What items get where their file leaves it open.

    Args:
        acl: None leaves it to the caller's own default.
        episode_type: None leaves it to the source's prefix.
    """

    now: Micros
    acl: Acl | None
    episode_type: str | None


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file to load.

    Args:
        name: relative to the folder that was given, with `/` between its parts.
        leads_out: a link to what is no part of that folder.
    """

    path: Path
    name: str
    size: int
    leads_out: bool = False


def find_files(path: Path) -> tuple[TextFile, ...]:
    """Return the file, or the folder's files by name; hidden ones are passed over.

    Raises:
        NotFound: there is no such file or folder.
    """
    if path.is_file():
        return (TextFile(path, path.name, path.stat().st_size),)
    if not path.is_dir():
        message = "`path` is no file and no folder."
        raise NotFound(message, field="path")
    found = []
    root = path.resolve()
    for folder, inner, names in os.walk(path):
        inner[:] = [name for name in inner if not name.startswith(".")]
        for name in names:
            file = Path(folder, name)
            wanted = file.suffix.lower() in SUFFIXES and not name.startswith(".")
            if wanted and file.is_file():
                key = file.relative_to(path).as_posix()
                leads_out = file.is_symlink() and not file.resolve().is_relative_to(root)
                found.append(TextFile(file, key, file.stat().st_size, leads_out))
    return tuple(sorted(found, key=lambda file: file.name))


def read_files(
    files: tuple[TextFile, ...], defaults: Defaults, *, read: Callable[[int], None]
) -> Iterator[LoadItem]:
    """Yield every item of the files, named by file and line.

    Args:
        read: told how many bytes were read since it was last told.
    """
    for file in files:
        try:
            for line, item in _items(file, read):
                yield _named(file, line, item, defaults)
        except OSError as error:
            place = storable(file.name)
            yield place, RefusedItem(place, f"The file cannot be read: {error.strerror}.")


def _items(file: TextFile, read: Callable[[int], None]) -> Iterator[Loaded]:
    if file.leads_out:  # a folder from elsewhere could name any file of its loader's
        read(file.size)
        yield 1, Refusal("The link leads out of the folder; load what it names by itself.", "path")
        return
    if file.path.suffix.lower() == ".jsonl":
        yield from read_jsonl(_pieces(file.path, read))
        return
    read(file.size)
    if file.size > _LARGEST_TEXT:
        yield 1, Refusal(f"The file is over {MAX_BODY_BYTES} bytes; split it.", "body")
        return
    content = file.path.read_bytes()
    changed = Micros(file.path.stat().st_mtime_ns // 1_000)
    text = decode_text(content)
    if file.path.suffix.lower() == ".txt" and isinstance(text, str) and is_transcript(text):
        yield from read_transcript(content, name=file.name, occurred_at=changed)
    else:
        yield from read_document(content, path=file.name, modified_at=changed)


def _pieces(path: Path, read: Callable[[int], None]) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            read(len(piece))
            yield piece


def _named(file: TextFile, line: int, item: FileItem | Refusal, defaults: Defaults) -> LoadItem:
    place = storable(f"{file.name}:{line}")
    if isinstance(item, Refusal):
        return place, RefusedItem(place, item.reason)
    return place, EpisodeDraft(
        source=item.source,
        body=item.body,
        occurred_at=defaults.now if item.occurred_at is None else item.occurred_at,
        acl=defaults.acl if item.acl is None else item.acl,
        about=item.about,
        document=item.document,
        tags=item.tags,
        episode_type=item.episode_type or defaults.episode_type,
        meta=item.meta,
    )
