"""An engine in this process, with everything beside it that a server runs."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import django
from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper

from bench.store import Store
from memory.engine import Engine
from memory.landing.mover import Mover
from memory.wiring import close_engine
from memory.wiring import engine as process_engine


def set_up(store: Store) -> None:
    """Point this process and its children at the store, before any setting is read."""
    os.environ["AMPUP_MEMORY_DATABASE_URL"] = store.dsn
    os.environ["AMPUP_MEMORY_DATA_DIR"] = str(store.data_dir)
    os.environ.setdefault("AMPUP_MEMORY_LOG_LEVEL", "WARNING")
    # Vectors are drawn: an embedder at work beside a bench would be what is measured.
    os.environ["AMPUP_MEMORY_EMBEDDER"] = "none"
    os.environ["DJANGO_SETTINGS_MODULE"] = "ampup_site.settings.base"
    django.setup()


@contextmanager
def running_engine() -> Iterator[Engine]:
    """Lend the process's engine with the index mover beside it, and let go of everything."""
    engine = process_engine()
    mover = Mover(index=engine.index, warehouse=engine.warehouse, clock=engine.clock)
    mover.start()
    try:
        yield engine
    finally:
        mover.close()
        close_engine()
        _leave_database()


def _leave_database() -> None:
    """Close this thread's connections and the pool: a database in use cannot be put back."""
    for connection in connections.all(initialized_only=True):
        connection.close()
        if isinstance(connection, DatabaseWrapper):
            connection.close_pool()
