"""The spool: what a background load shall store, kept in a file until its run has ended."""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, Final

from ampup_site.kernel.clock import Micros
from memory.services.preparing import EpisodeDraft

FOLDER: Final = "spool"
"""Its name in the data folder."""

_TUPLES: Final = ("acl", "about", "tags")


def write_spool(folder: Path, name: str, drafts: Iterable[EpisodeDraft]) -> int:
    """Store drafts durably, a line each, readable by the server alone; return how many.

    When this returns, file and folder are on the disk: a job may be promised.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = folder / f"{name}.part"
    count = 0
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as out:
        for draft in drafts:
            # Escaped to ASCII, so that what will be refused for its characters can be kept.
            out.write(json.dumps(asdict(draft), separators=(",", ":")) + "\n")
            count += 1
        out.flush()
        os.fsync(out.fileno())
    unfinished.rename(folder / name)
    _flush_folder(folder)
    return count


def read_spool(folder: Path, name: str, *, skip: int = 0) -> Iterator[tuple[str, EpisodeDraft]]:
    """Yield the place, from 1, and the draft of each line after the first `skip`."""
    with (folder / name).open(encoding="ascii") as lines:
        for place, line in enumerate(islice(lines, skip, None), start=skip + 1):
            yield str(place), _draft(json.loads(line))


def remove_spool(folder: Path, name: str) -> None:
    """Remove a file; it is no error if it is gone."""
    if name:
        (folder / name).unlink(missing_ok=True)


def spooled(folder: Path) -> frozenset[str]:
    """Return the names of the files that are there, whole ones alone."""
    if not folder.is_dir():
        return frozenset()
    return frozenset(path.name for path in folder.iterdir() if path.suffix == ".jsonl")


def stray_files(folder: Path, *, known: Iterable[str], before: Micros) -> tuple[Path, ...]:
    """Return files that no open run names and that were last written before a moment."""
    kept = set(known)
    if not folder.is_dir():
        return ()
    return tuple(
        path
        for path in folder.iterdir()
        if path.name not in kept and path.stat().st_mtime_ns // 1000 < before
    )


def _draft(fields: dict[str, Any]) -> EpisodeDraft:
    for name in _TUPLES:
        if fields[name] is not None:
            fields[name] = tuple(fields[name])
    return EpisodeDraft(**fields)


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
