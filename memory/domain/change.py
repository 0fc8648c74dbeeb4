"""What a write asks for, and what became of it: values between the services and the committer."""

from dataclasses import dataclass
from typing import TypeAlias

from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import AmpUpError
from memory.domain.acl import Acl
from memory.domain.ids import CommitId, EpisodeId, Sha256
from memory.domain.indexed import IndexedPassage
from memory.domain.lineage import BranchId


@dataclass(frozen=True, slots=True)
class PreparedEpisode:
    """An episode ready to land: checked, cut and analyzed; only its commit is not known yet.

    Args:
        blob: the body's path under the warehouse where it is too long for a row.
    """

    episode_id: EpisodeId
    source: str
    episode_type: str
    document: str | None
    occurred_at: Micros
    recorded_at: Micros
    body: str
    body_sha256: Sha256
    body_len: int
    blob: str | None
    author: str
    acl: Acl
    about: tuple[str, ...]
    tags: tuple[str, ...]
    meta: str | None
    passages: tuple[IndexedPassage, ...]


@dataclass(frozen=True, slots=True)
class AddEpisodes:
    """Make these episodes live; the ones that are live already stay as they are."""

    episodes: tuple[PreparedEpisode, ...]


@dataclass(frozen=True, slots=True)
class RemoveEpisode:
    """Make an episode gone from every later read."""

    episode_id: EpisodeId
    mode: str
    reason_episode_id: EpisodeId | None
    recorded_at: Micros
    meta: str | None = None


@dataclass(frozen=True, slots=True)
class AmendAcl:
    """Change who may read an episode, if the present ACL is the expected one."""

    episode_id: EpisodeId
    acl: Acl
    expected: Acl
    reason: str | None
    recorded_at: Micros


Change: TypeAlias = AddEpisodes | RemoveEpisode | AmendAcl


@dataclass(frozen=True, slots=True)
class Write:
    """One write: it becomes one commit, or is recognised as a repeat, or is refused."""

    commit_id: CommitId
    namespace: str
    branch_id: BranchId
    kind: str
    author: str
    change: Change
    job_id: str | None = None
    message: str | None = None

    @property
    def rows(self) -> int:
        """How many rows it may add: what batches are measured by."""
        change = self.change
        return len(change.episodes) if isinstance(change, AddEpisodes) else 1

    @property
    def bytes(self) -> int:
        """How many bytes of text it carries."""
        change = self.change
        if isinstance(change, AddEpisodes):
            return sum(episode.body_len for episode in change.episodes)
        return 0


@dataclass(frozen=True, slots=True)
class Landed:
    """The write holds: by the commit named, its own or the earlier one that made it so.

    Args:
        created: for each episode asked for, whether this write made it live.
        acl_unchanged: for each, whether another ACL was named than the present one.
    """

    commit_id: CommitId
    created: tuple[bool, ...] = ()
    acl_unchanged: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """The write changed nothing, and why."""

    error: AmpUpError


Outcome: TypeAlias = Landed | Refused
