"""Bytes of a text file to text, by what the file itself says of its encoding."""

import codecs
from typing import Final

from memory.domain.limits import MAX_BODY_BYTES
from memory.loaders.item import Refusal

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode_text(content: bytes) -> str | Refusal:
    """Return a file's text without its byte order mark; line ends stay as they are.

    No encoding is guessed: without a mark a file is UTF-8, or it is refused.
    """
    mark, encoding = next(
        ((mark, name) for mark, name in _MARKS if content.startswith(mark)), (b"", "utf-8")
    )
    try:
        text = content[len(mark) :].decode(encoding)
    except UnicodeDecodeError:
        return Refusal("The file is no text in UTF-8; save it as UTF-8 and load it again.", "body")
    if "\x00" in text:
        return Refusal("The file holds the character U+0000, so it is no text.", "body")
    if not text.strip():
        return Refusal("The file holds no text.", "body")
    if len(text.encode()) > MAX_BODY_BYTES:
        return Refusal(f"The text is over {MAX_BODY_BYTES} bytes; split it.", "body")
    return text
