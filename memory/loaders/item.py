"""What a loader gives: an episode to be, or why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ampup_site.kernel.canonical import Canonical
from ampup_site.kernel.clock import Micros


@dataclass(frozen=True, slots=True)
class FileItem:
    """An episode as a file gives it; what a file leaves open is None or empty.

    Args:
        acl: None where the file names nobody; the load's own default decides then.
        episode_type: None where the source's prefix decides.
    """

    source: str
    body: str
    occurred_at: Micros | None
    acl: tuple[str, ...] | None = None
    about: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    document: str | None = None
    meta: Mapping[str, Canonical] | None = None
    episode_type: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A piece that is no episode.

    Args:
        reason: one sentence with the field and the remedy.
    """

    reason: str
    field: str | None = None


Loaded: TypeAlias = tuple[int, FileItem | Refusal]
"""The number of the line where it begins, from 1, and what stands there."""
