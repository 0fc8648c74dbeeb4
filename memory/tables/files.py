"""Files of the warehouse: written, made durable together, read back, blobs verified.

Neither pyarrow nor pyiceberg flushes what it writes, so we do: every file and every folder
that names one, in parallel, before anything refers to them.
"""

import os
import secrets
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pyarrow as pa

from ampup_site.kernel.canonical import sha256_hex
from ampup_site.kernel.failpoints import reach
from memory.domain.errors import DamagedBlob

_SCHEME: Final = "file://"
_FLUSHERS: Final = 12
"""Flushes wait for the disk, not for a core; a dozen at once cost about what one costs."""

_LONGEST: Final = 2**30
"""No body is longer; a length beyond it is damage and must not be asked of the memory."""


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

    def flush(self, paths: Iterable[Path], new: Iterable[tuple[Path, bytes]] = ()) -> None:
        """Make files and the folders that name them durable, up to the warehouse's own.

        Args:
            new: files to be written first, with their content. Making a file waits for the
                disk's journal as flushing does, so they are made side by side too.
        """
        files, drafts = list(paths), list(new)
        folders = {path.parent for path in [*files, *(path for path, _ in drafts)]}
        for folder in folders - self._known:
            folder.mkdir(parents=True, exist_ok=True)
            folders |= {above for above in folder.parents if above.is_relative_to(self.root)}
        work = [self._flushers.submit(_write, *draft) for draft in drafts]
        work += [self._flushers.submit(_flush, path) for path in files]
        wait(work)  # whoever clears up after one that failed must find none that still writes
        for done in work:
            done.result()
        list(self._flushers.map(_flush, folders))
        self._known |= folders

    def put_blob(self, namespace: str, sha256: str, body: bytes) -> str:
        """Store a long body under its hash, compressed and durable; return its place.

        The place is relative to the warehouse. A body that is there already is left alone.
        """
        place = f"{namespace}/bodies/{sha256[:2]}/{sha256}.zst"
        path = self.root / place
        with suppress(FileNotFoundError):
            # Young again, so that no sweep takes it from under the landing to come; and whoever
            # put it there may have died before its folder was flushed.
            os.utime(path)
            self.flush([path])
            return place
        path.parent.mkdir(parents=True, exist_ok=True)
        packed = pa.Codec("zstd").compress(body, asbytes=True)
        draft = path.with_name(f"{secrets.token_hex(16)}.draft")
        with whole_or_gone(draft):
            _write(draft, len(body).to_bytes(8, "little") + packed)
            reach("blob.written")
            draft.replace(path)
        self.flush([path])
        return place

    def read_blob(self, place: str, *, sha256: str) -> str:
        """Return a long body.

        Raises:
            DamagedBlob: the file is not what its name says.
        """
        try:
            body = _unpacked((self.root / place).read_bytes())
        except (OSError, pa.ArrowException) as error:
            message = "A stored body cannot be read; restore the warehouse."
            raise DamagedBlob(message) from error
        if sha256_hex(body) != sha256:
            message = "A stored body does not match its hash; restore the warehouse."
            raise DamagedBlob(message)
        return body.decode()

    def close(self) -> None:
        """Let the threads that write and flush go."""
        self._flushers.shutdown()

    def remove(self, paths: Iterable[Path]) -> None:
        """Remove files that nothing refers to; one that is gone already is no matter."""
        for path in paths:
            path.unlink(missing_ok=True)


def _unpacked(content: bytes) -> bytes:
    size = int.from_bytes(content[:8], "little")
    if size > _LONGEST:
        message = f"a body of {size} bytes"
        raise OSError(message)
    packed = content[8:]
    return bytes(pa.Codec("zstd").decompress(packed, decompressed_size=size, asbytes=True))


@contextmanager
def whole_or_gone(path: Path) -> Iterator[None]:
    """Remove a file whose writing fails: a full disk gets no fuller by every try."""
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _write(path: Path, content: bytes) -> None:
    with path.open("xb") as file, whole_or_gone(path):
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
