"""Files of the warehouse: written, made durable together, read back, blobs verified.

Neither pyarrow nor pyiceberg flushes what it writes, so we do: every file and every folder
that names one, in parallel, before anything refers to them.
"""

import os
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pyarrow as pa

from ampup_site.kernel.canonical import sha256_hex
from ampup_site.kernel.failpoints import reach
from memory.domain.errors import DamagedBlob

_SCHEME: Final = "file://"
_FLUSHERS: Final = 12
"""Flushes wait for the disk, not for a core; a dozen at once cost about what one costs."""


def location(path: Path) -> str:
    """Return the URI under which the tables name a file."""
    return f"{_SCHEME}{path}"


def local_path(uri: str) -> Path:
    """Return the file a URI names."""
    return Path(uri.removeprefix(_SCHEME))


class Files:
    """Writes below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._known: set[Path] = set()
        self._flushers = ThreadPoolExecutor(_FLUSHERS, thread_name_prefix="fsync")

    def write(self, path: Path, content: bytes) -> None:
        """Write a new file, making its folder; not durable until `flush`."""
        try:
            path.write_bytes(content)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def flush(self, paths: Iterable[Path]) -> None:
        """Make files and the folders that name them durable, up to the warehouse's own."""
        files = list(paths)
        folders = {file.parent for file in files}
        for folder in folders - self._known:
            folders |= {above for above in folder.parents if above.is_relative_to(self.root)}
        list(self._flushers.map(_flush, [*files, *folders]))
        self._known |= folders

    def put_blob(self, namespace: str, sha256: str, body: bytes) -> str:
        """Store a long body under its hash, compressed and durable; return its place.

        The place is relative to the warehouse. A body that is there already is left alone.
        """
        place = f"{namespace}/bodies/{sha256[:2]}/{sha256}.zst"
        path = self.root / place
        if path.exists():
            return place
        path.parent.mkdir(parents=True, exist_ok=True)
        packed = pa.Codec("zstd").compress(body, asbytes=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as draft:
            draft.write(len(body).to_bytes(8, "little"))
            draft.write(packed)
            draft.flush()
            os.fsync(draft.fileno())
        reach("blob.written")
        Path(draft.name).replace(path)
        self.flush([path])
        return place

    def read_blob(self, place: str, *, sha256: str) -> str:
        """Return a long body.

        Raises:
            DamagedBlob: the file is not what its name says.
        """
        content = (self.root / place).read_bytes()
        size = int.from_bytes(content[:8], "little")
        body = pa.Codec("zstd").decompress(content[8:], decompressed_size=size, asbytes=True)
        if sha256_hex(body) != sha256:
            message = "A stored body does not match its hash; restore the warehouse."
            raise DamagedBlob(message)
        return bytes(body).decode()

    def remove(self, paths: Iterable[Path]) -> None:
        """Remove files that nothing refers to; one that is gone already is no matter."""
        for path in paths:
            path.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
