"""Transcripts and documents from files."""

import codecs
from collections.abc import Iterator

import pytest

from ampup_site.kernel.clock import Micros
from memory.domain.limits import MAX_BODY_BYTES
from memory.loaders.document import read_document
from memory.loaders.item import FileItem, Loaded, Refusal
from memory.loaders.transcript import is_transcript, read_transcript

_CALL = "Ann Lee: hello\nBo: hi\n[00:10] Ann Lee: shall we?\nBo: yes\n"
_NOW = Micros(1_774_966_930_123_456)


def _only(loaded: Iterator[Loaded]) -> FileItem | Refusal:
    ((position, item),) = loaded
    assert position == 1
    return item


def test_a_transcript_is_one_episode_with_its_text_as_it_is() -> None:
    """Ours: the source is the file's name, the body verbatim, line ends too."""
    content = _CALL.replace("\n", "\r\n").encode()
    assert _only(read_transcript(content, name="2026/kick-off.txt", occurred_at=_NOW)) == FileItem(
        source="meeting:2026/kick-off", body=content.decode(), occurred_at=_NOW
    )
    named = _only(read_transcript(content, name="x.txt", occurred_at=None, source="gong:1"))
    assert isinstance(named, FileItem)
    assert named.source == "gong:1"


def test_prose_is_told_from_turns() -> None:
    """Ours: some colons make no meeting."""
    assert is_transcript(_CALL)
    assert not is_transcript("Note: the pier is closed.\nMore: later\nAsk: Ann\nDone: no\n")
    assert not is_transcript("# Title\n\nJust a paragraph.\n")
    refused = _only(read_transcript(b"no names here\n", name="x.txt", occurred_at=_NOW))
    assert isinstance(refused, Refusal)


def test_a_file_is_a_version_of_the_document_its_path_names() -> None:
    """Ours: key and source come from the path below the folder, the time from the file."""
    content = codecs.BOM_UTF8 + b"# Pier\n"
    assert _only(read_document(content, path="ops/pier.md", modified_at=_NOW)) == FileItem(
        source="doc:ops/pier.md", body="# Pier\n", occurred_at=_NOW, document="ops/pier.md"
    )
    utf_16 = codecs.BOM_UTF16_LE + "caf\u00e9".encode("utf-16-le")
    note = _only(read_document(utf_16, path="a\\b.md", modified_at=_NOW, prefix="note:"))
    assert note == FileItem(
        source="note:a/b.md", body="caf\u00e9", occurred_at=_NOW, document="a/b.md"
    )


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b" \n\t", codecs.BOM_UTF8, b"\xff\xfe\xff", b"caf\xe9", b"a\x00b"),
        *(b"\x89PNG\r\n\x1a\n", codecs.BOM_UTF16_LE + b"\x00\xd8a\x00"),
        b"a" * (MAX_BODY_BYTES + 1),
    ],
)
def test_what_is_no_text_is_refused(content: bytes) -> None:
    """Ours: no encoding is guessed, and a binary file is no document."""
    assert isinstance(_only(read_document(content, path="a.md", modified_at=_NOW)), Refusal)
    assert isinstance(_only(read_transcript(content, name="a", occurred_at=_NOW)), Refusal)


@pytest.mark.parametrize("path", ["../a.md", "a/../../b.md", "/etc/passwd", "..\\a.md"])
def test_a_path_out_of_the_folder_is_refused(path: str) -> None:
    """Regression: case 14, names that look like ways out."""
    assert isinstance(_only(read_document(b"x", path=path, modified_at=_NOW)), Refusal)
