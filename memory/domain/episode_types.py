"""Episode types: which sources each claims and into which units its bodies split."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from ampup_site.kernel.errors import BadRequest
from memory.domain.errors import ReservedSource
from memory.domain.units import UnitKind

NOTE_PREFIX: Final = "mcp:remember_memory:"
"""What the server signs notes with; no caller may write it.  Source: specification, section 6."""

_KEEP: Final = "keep"


@dataclass(frozen=True, slots=True)
class EpisodeType:
    """One type.

    Args:
        sources: prefixes it claims.
        letter: what its units are cited with.
        predicates: which facts a model may read from it; None for all.
    """

    name: str
    sources: tuple[str, ...]
    unit: UnitKind
    letter: str
    predicates: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class EpisodeTypes:
    """All types; the longest prefix that a source begins with decides."""

    by_name: Mapping[str, EpisodeType]
    by_prefix: tuple[tuple[str, EpisodeType], ...]

    @classmethod
    def load(cls, text: str) -> "EpisodeTypes":
        """Read the types from JSON as `schemas/episode_types.json` holds it."""
        types = [_read(entry) for entry in cast("list[dict[str, object]]", json.loads(text))]
        prefixes = [(prefix, kind) for kind in types for prefix in kind.sources]
        prefixes.sort(key=lambda pair: len(pair[0]), reverse=True)
        return cls({kind.name: kind for kind in types}, tuple(prefixes))

    def type_of(self, source: str) -> EpisodeType | None:
        """Return the type that claims a source, or None; letter case counts."""
        for prefix, kind in self.by_prefix:
            if source.startswith(prefix) and len(source) > len(prefix):
                return kind
        return None

    def named(self, name: str) -> EpisodeType:
        """Return a type by name.

        Raises:
            BadRequest: there is none.
        """
        kind = self.by_name.get(name)
        if kind is None:
            message = f"`type` must be one of {', '.join(self.by_name)}."
            raise BadRequest(message, field="type")
        return kind


def check_not_reserved(source: str, *, ingest: bool) -> None:
    """Refuse a source that only the server writes.

    Raises:
        ReservedSource: it is one.
    """
    if source == _KEEP or source.startswith(f"{_KEEP}:"):
        message = "`source` must not begin with `keep`: those notes are kept by the server."
        raise ReservedSource(message, field="source")
    if ingest and source.startswith(NOTE_PREFIX):
        message = f"`source` must not begin with `{NOTE_PREFIX}`: only the server signs notes."
        raise ReservedSource(message, field="source")


def sign_source(source: str, *, author: str) -> str:
    """Return a note's source under its author's signature."""
    escaped = author.replace("%", "%25").replace(":", "%3A")
    return f"{NOTE_PREFIX}{escaped}:{source}"


def _read(entry: dict[str, object]) -> EpisodeType:
    predicates = entry["predicates"]
    return EpisodeType(
        name=str(entry["name"]),
        sources=tuple(cast("list[str]", entry["sources"])),
        unit=UnitKind(str(entry["unit"])),
        letter=str(entry["letter"]),
        predicates=None if predicates == "*" else tuple(cast("list[str]", predicates)),
    )
