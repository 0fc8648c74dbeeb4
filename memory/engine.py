"""The engine: stores, clock, ids and rules that every service takes as its first argument."""

from dataclasses import dataclass

from ampup_site.kernel.clock import Clock
from ampup_site.kernel.ids import IdSource
from memory.domain.episode_types import EpisodeTypes
from memory.embedding.meaning import Meaning
from memory.landing.committer import Committer
from memory.search.database import IndexDatabase
from memory.tables.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class Engine:
    """What memory runs on; one a process, built by `memory.wiring`.

    Args:
        meaning: the embedder; None where none is configured, and search goes by keyword.
    """

    clock: Clock
    ids: IdSource
    warehouse: Warehouse
    index: IndexDatabase
    committer: Committer
    types: EpisodeTypes
    meaning: Meaning | None = None
