"""Builds the process's Engine from settings: the only place of memory that reads them."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg
from django.conf import settings
from django.db import connection as django_connection

from ampup_site.kernel.clock import SystemClock
from ampup_site.kernel.errors import AmpUpError
from ampup_site.kernel.ids import UlidSource
from ampup_site.settings.embedders import ChosenEmbedder
from memory.domain.episode_types import EpisodeTypes
from memory.domain.progress import silent
from memory.embedding.local import MiniLM
from memory.embedding.meaning import Meaning
from memory.embedding.remote import RemoteEmbedder
from memory.engine import Engine
from memory.landing.apply import catch_up
from memory.landing.committer import Committer
from memory.landing.embedding import EmbeddingFollower
from memory.landing.mover import Mover
from memory.landing.rebuild import rebuild_if_stale, rebuild_index
from memory.search.database import IndexDatabase
from memory.search.generations import ensure_index
from memory.services.holders import FOLDER as HOLDERS
from memory.services.spool import FOLDER as SPOOL
from memory.tables.warehouse import Warehouse

_TYPES: Final = Path(__file__).resolve().parent.parent / "schemas" / "episode_types.json"
logger = logging.getLogger(__name__)

_lock = threading.Lock()
_engine: Engine | None = None
_mover: Mover | None = None
_follower: EmbeddingFollower | None = None


def engine(*, to_recover: bool = False) -> Engine:
    """Return the process's engine, built at the first call; safe to call from any thread.

    Args:
        to_recover: take the catalog and the index as they are: the files the catalog names may
            not be there.
    """
    global _engine
    if _engine is None:
        with _lock:
            if _engine is None:
                _engine = _build(brought_up=not to_recover)
    return _engine


def start_followers() -> None:
    """Start the threads that follow landings; a server does, once.

    One keeps index and tables quick to read, one gives passages their vectors; and where another
    analyzer made the index, one builds it anew.
    """
    global _mover, _follower
    held = engine()
    with _lock:
        if _mover is None:
            _mover = Mover(index=held.index, warehouse=held.warehouse, clock=held.clock)
            _mover.start()
            threading.Thread(
                target=_rebuild_if_stale, args=(held,), name="stale index", daemon=True
            ).start()
        if _follower is None and held.meaning is not None:
            _follower = EmbeddingFollower(
                index=held.index, warehouse=held.warehouse, meaning=held.meaning
            )
            _follower.start()


def _rebuild_if_stale(held: Engine) -> None:
    try:
        rebuild_if_stale(
            index=held.index, warehouse=held.warehouse, types=held.types, clock=held.clock
        )
    except (AmpUpError, psycopg.Error, OSError) as error:
        logger.warning("the index stays as it is until the next start: %s", error)


def close_engine() -> None:
    """Land what waits, stop what follows and the committer, and forget the engine."""
    global _engine, _mover, _follower
    with _lock:
        if _follower is not None:
            _follower.close()
            _follower = None
        if _mover is not None:
            _mover.close()
            _mover = None
        if _engine is not None:
            _engine.committer.close()
            if _engine.meaning is not None:
                _engine.meaning.close()
            _engine.warehouse.close()
            _engine = None


def spool_folder() -> Path:
    """Return where background loads wait; edges and the worker of a data folder share it."""
    return Path(settings.AMPUP_DATA_DIR) / SPOOL


def holders_folder() -> Path:
    """Return where the processes of a data folder that do background work are told alive."""
    return Path(settings.AMPUP_DATA_DIR) / HOLDERS


def warehouse_folder() -> Path:
    """Return where the tables' files are, or will be."""
    return Path(settings.AMPUP_WAREHOUSE)


def maintain_window() -> tuple[int, int]:
    """Return when upkeep may run, as minutes since midnight, UTC: from the first to the second."""
    window = settings.AMPUP_MAINTAIN_WINDOW
    return window.start, window.end


def _build(*, brought_up: bool) -> Engine:
    clock = SystemClock()
    ids = UlidSource(clock)
    warehouse = Warehouse(root=warehouse_folder(), dsn=settings.AMPUP_DATABASE_DSN)
    index = IndexDatabase(dsn=settings.AMPUP_DATABASE_DSN, lend=_lend)
    types = EpisodeTypes.load(_TYPES.read_text())
    with index.connect(application="start") as connection:
        live = ensure_index(connection, empty=brought_up and warehouse.ledger_seq() == 0)
        if brought_up and live:
            catch_up(connection, warehouse, types)
    if brought_up and not live:
        logger.warning("the index is missing and is built from the tables; this may take a while")
        rebuild_index(index=index, warehouse=warehouse, types=types, clock=clock, progress=silent)
    return Engine(
        clock=clock,
        ids=ids,
        warehouse=warehouse,
        index=index,
        committer=Committer(warehouse=warehouse, index=index, clock=clock, ids=ids),
        types=types,
        meaning=_meaning(settings.AMPUP_EMBEDDER),
    )


def _meaning(chosen: ChosenEmbedder) -> Meaning | None:
    if chosen is None:
        return None
    if chosen == "local":
        return Meaning(MiniLM())
    return Meaning(
        RemoteEmbedder(chosen.url, model=chosen.model, width=chosen.width, key=chosen.key)
    )


@contextmanager
def _lend() -> Iterator[psycopg.Connection]:
    """Lend this thread's Django connection: reads and account rows share one pool."""
    django_connection.ensure_connection()
    yield django_connection.connection
