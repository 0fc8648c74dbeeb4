"""Refuses to record figures that were bought with durability."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import psutil
import psycopg

NEEDED: Final = ("fsync", "synchronous_commit", "full_page_writes")
VOLATILE: Final = frozenset({"tmpfs", "ramfs", "devtmpfs"})
_ALSO_TOLD: Final = ("server_version", "shared_buffers", "max_connections", "wal_sync_method")


class NotRecordable(Exception):
    """A run under these conditions would say nothing; the message says what to change."""


def check_recordable(settings: Mapping[str, str], filesystems: Mapping[str, str]) -> None:
    """Refuse a run whose writes are not durable.

    Args:
        settings: what Postgres shows for each of `NEEDED`.
        filesystems: the type of what each named folder stands on.

    Raises:
        NotRecordable: the first thing at fault.
    """
    for name in NEEDED:
        if settings.get(name) != "on":
            message = f"Postgres runs with {name} = {settings.get(name)}; set it to on."
            raise NotRecordable(message)
    for folder, kind in filesystems.items():
        if kind in VOLATILE:
            message = f"The {folder} stands on {kind}, which forgets; give it a disk."
            raise NotRecordable(message)


def read_settings(connection: psycopg.Connection) -> dict[str, str]:
    """Return what Postgres shows for the settings that matter to a reader of figures."""
    shown = {}
    for name in (*NEEDED, *_ALSO_TOLD):
        row = connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
        shown[name] = str(row[0]) if row else ""
    return shown


def filesystem_of(folder: Path) -> str:
    """Return the type of the filesystem a folder stands on."""
    target = folder.resolve()
    mounts = psutil.disk_partitions(all=True)
    under = [mount for mount in mounts if target.is_relative_to(mount.mountpoint)]
    # A later mount on the same place hides the earlier one.
    deepest = max(enumerate(under), key=lambda item: (len(item[1].mountpoint), item[0]))
    return str(deepest[1].fstype)


def database_folder(connection: psycopg.Connection) -> Path | None:
    """Return where Postgres keeps its files, if that can be seen from here."""
    row = connection.execute("SELECT current_setting('data_directory')").fetchone()
    folder = Path(row[0]) if row else None
    return folder if folder is not None and folder.exists() else None
