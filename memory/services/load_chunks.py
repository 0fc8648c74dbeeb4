"""Cuts a load into chunks and makes their episodes ready to land, in child processes if it is long.

Children import this module and nothing of Django: they take drafts and give prepared episodes.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, TypeAlias

import psycopg

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from ampup_site.kernel.clock import SystemClock
from ampup_site.kernel.errors import AmpUpError
from ampup_site.kernel.ids import UlidSource
from memory.domain.change import PreparedEpisode
from memory.domain.episode_types import EpisodeTypes
from memory.domain.job import RefusedItem
from memory.engine import Engine
from memory.landing.children import children
from memory.landing.committer import Committer
from memory.search.database import IndexDatabase
from memory.services.preparing import EpisodeDraft, prepare_episodes
from memory.tables.warehouse import Warehouse

CHUNK_PASSAGES: Final = 1_000
"""Passages of one commit of a load.  Source: architecture, "The write path"."""

CHUNK_EPISODES: Final = 300
_GATHERED_BYTES: Final = 384 * 2**10
"""A chunk is one landing, whole: so many notes, or about 280 passages of usual length. 500 notes
held the lock for more than 200 ms beside a rebuild."""

SOLO_CHUNKS = 6
"""Chunks prepared here before children are started, which takes as long as all of these."""

LoadItem: TypeAlias = tuple[str, EpisodeDraft | RefusedItem]
"""Where an item stands in what is loaded, and the item, or why it cannot be one."""


@dataclass(frozen=True, slots=True)
class Intent:
    """As whom, where and how a load writes.

    Args:
        id_of: what episode ids are taken over.
        unclaimed: the type of sources that no type claims; None refuses them.
    """

    caller: Caller
    scope: Scope
    id_of: str
    unclaimed: str | None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Items in their order, and those that were none."""

    items: tuple[tuple[str, EpisodeDraft], ...]
    refused: tuple[RefusedItem, ...]


@dataclass(frozen=True, slots=True)
class PreparedChunk:
    """A chunk's episodes ready to land, each with the place it came from."""

    places: tuple[str, ...]
    episodes: tuple[PreparedEpisode, ...]
    refused: tuple[RefusedItem, ...]


def cut_chunks(items: Iterable[LoadItem]) -> Iterator[Chunk]:
    """Gather items into chunks of at most 300 episodes and about 280 passages."""
    held: list[tuple[str, EpisodeDraft]] = []
    refused: list[RefusedItem] = []
    size = 0
    for place, item in items:
        if isinstance(item, RefusedItem):
            refused.append(item)
        else:
            if held and size + len(item.body) > _GATHERED_BYTES:
                yield Chunk(tuple(held), tuple(refused))
                held, refused, size = [], [], 0
            held.append((place, item))
            size += len(item.body)
        if len(held) + len(refused) >= CHUNK_EPISODES:
            yield Chunk(tuple(held), tuple(refused))
            held, refused, size = [], [], 0
    if held or refused:
        yield Chunk(tuple(held), tuple(refused))


def prepare_chunk(engine: Engine, intent: Intent, chunk: Chunk) -> PreparedChunk:
    """Check, cut and analyze a chunk's episodes; what cannot be taken is refused alone."""
    try:
        episodes = _prepare(engine, intent, [draft for _, draft in chunk.items])
        places = tuple(place for place, _ in chunk.items)
        return PreparedChunk(places, episodes, chunk.refused)
    except AmpUpError:
        return _prepare_one_by_one(engine, intent, chunk)


def _prepare_one_by_one(engine: Engine, intent: Intent, chunk: Chunk) -> PreparedChunk:
    taken: list[tuple[str, PreparedEpisode]] = []
    refused = list(chunk.refused)
    for place, draft in chunk.items:
        try:
            taken.append((place, _prepare(engine, intent, [draft])[0]))
        except AmpUpError as error:
            refused.append(RefusedItem(place, error.message))
    return PreparedChunk(
        places=tuple(place for place, _ in taken),
        episodes=tuple(episode for _, episode in taken),
        refused=tuple(refused),
    )


def _prepare(
    engine: Engine, intent: Intent, drafts: Sequence[EpisodeDraft]
) -> tuple[PreparedEpisode, ...]:
    if not drafts:
        return ()
    return prepare_episodes(
        engine,
        intent.caller,
        intent.scope,
        drafts,
        id_of=intent.id_of,
        unclaimed=intent.unclaimed,
    )


@contextmanager
def preparing(
    engine: Engine, intent: Intent, chunks: Iterable[Chunk]
) -> Iterator[Iterator[PreparedChunk]]:
    """Lend the chunks in their order, prepared some ahead; children end with the block."""
    with closing(_prepared(engine, intent, iter(chunks))) as prepared:
        yield prepared


def _prepared(
    engine: Engine, intent: Intent, chunks: Iterator[Chunk]
) -> Generator[PreparedChunk, None, None]:
    for _ in range(SOLO_CHUNKS):
        chunk = next(chunks, None)
        if chunk is None:
            return
        yield prepare_chunk(engine, intent, chunk)
    first = next(chunks, None)
    if first is None:
        return
    given = (engine.warehouse.root, engine.index.dsn, engine.types)
    with children(partial(_in_child, intent), begin=_begin_child, given=given) as prepare:
        yield from prepare(chain((first,), chunks))


_child_engine: Engine | None = None


def _begin_child(root: Path, dsn: str, types: EpisodeTypes) -> None:
    """Build the stores a child prepares on: it writes blobs, and never lands anything."""
    global _child_engine
    clock = SystemClock()
    ids = UlidSource(clock)
    warehouse = Warehouse(root=root, dsn=dsn)
    index = IndexDatabase(dsn=dsn, lend=_lend_nothing)
    committer = Committer(warehouse=warehouse, index=index, clock=clock, ids=ids)
    _child_engine = Engine(clock, ids, warehouse, index, committer, types)


def _lend_nothing() -> AbstractContextManager[psycopg.Connection]:
    message = "a child that prepares a load does not read"
    raise RuntimeError(message)


def _in_child(intent: Intent, chunk: Chunk) -> PreparedChunk:
    if _child_engine is None:
        message = "the child has not begun"
        raise RuntimeError(message)
    return prepare_chunk(_child_engine, intent, chunk)
