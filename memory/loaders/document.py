"""Files of a folder as documents: each file is a version of the document its path names."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from ampup_site.kernel.clock import Micros
from memory.loaders.decoding import decode_text
from memory.loaders.item import FileItem, Loaded, Refusal

SOURCE_PREFIX: Final = "doc:"


def read_document(
    content: bytes, *, path: str, modified_at: Micros, prefix: str = SOURCE_PREFIX
) -> Iterator[Loaded]:
    """Yield the one episode that a file is: a version, as of its last change.

    Args:
        path: relative to the folder, with `/` between its parts; it is the document key, and
            with `prefix` before it the source. It is a name: nothing is ever opened by it.
    """
    body = decode_text(content)
    if isinstance(body, Refusal):
        yield 1, body
        return
    key = PurePosixPath(path.replace("\\", "/")).as_posix()
    if key.startswith("/") or ".." in key.split("/"):
        yield 1, Refusal("The path must stay inside the folder.", "document")
        return
    yield 1, FileItem(source=prefix + key, body=body, occurred_at=modified_at, document=key)
