"""What callers are told of episodes: that they are stored, gone or amended, and what they hold."""

from dataclasses import dataclass

from ampup_site.kernel.clock import Micros
from memory.domain.acl import Acl
from memory.domain.ids import CommitId, EpisodeId


@dataclass(frozen=True, slots=True)
class Remembered:
    """A note that is stored, by this call or an earlier one."""

    episode_id: EpisodeId
    source: str
    created: bool
    acl_unchanged: bool
    commit: CommitId


@dataclass(frozen=True, slots=True)
class IngestedEpisode:
    """One episode of an ingest."""

    episode_id: EpisodeId
    created: bool
    acl_unchanged: bool


@dataclass(frozen=True, slots=True)
class Ingested:
    """Episodes that are stored, in the order they were given."""

    episodes: tuple[IngestedEpisode, ...]
    commit: CommitId


@dataclass(frozen=True, slots=True)
class Forgotten:
    """An episode that is gone from every later read."""

    episode_id: EpisodeId
    commit: CommitId


@dataclass(frozen=True, slots=True)
class AclAmended:
    """An episode with the ACL it has now."""

    episode_id: EpisodeId
    acl: Acl
    commit: CommitId


@dataclass(frozen=True, slots=True)
class UnitView:
    """One unit of a body, as facts and answers cite it."""

    n: int
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class EpisodeView:
    """An episode as a reader is shown it.

    Args:
        acl: None unless the caller may amend it.
    """

    episode_id: EpisodeId
    source: str
    episode_type: str
    body: str
    units: tuple[UnitView, ...]
    occurred_at: Micros
    recorded_at: Micros
    about: tuple[str, ...]
    tags: tuple[str, ...]
    document: str | None
    author: str | None
    meta: str | None
    acl: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class EpisodeSummary:
    """An episode in a list; the title is how its body begins."""

    episode_id: EpisodeId
    source: str
    episode_type: str
    occurred_at: Micros
    about: tuple[str, ...]
    tags: tuple[str, ...]
    document: str | None
    title: str


@dataclass(frozen=True, slots=True)
class EpisodePage:
    """A page of a list, and where the next begins."""

    episodes: tuple[EpisodeSummary, ...]
    next_cursor: str | None
