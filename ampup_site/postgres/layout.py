"""Where an embedded server keeps what: a function of the data folder alone."""

import os
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import quote

ROLE: Final = "ampup"
"""Role and database of an embedded server."""

_MAX_SOCKET_PATH: Final = 90  # bytes of the folder; Linux takes 107 for the whole socket's path


@dataclass(frozen=True, slots=True)
class Layout:
    """The files of one embedded server.

    Args:
        data: the data folder, absolute.
        home: where the server's own files are: in the data folder, or in a system folder where
            the server's user cannot enter the data folder.
    """

    data: Path
    home: Path

    @property
    def folder(self) -> Path:
        """The server's folder in the data folder: locks, marker, pointer to `home`."""
        return self.data / "postgres"

    @property
    def marker(self) -> Path:
        """Says that the folder is ours."""
        return self.folder / "AMPUP_MEMORY_POSTGRES"

    @property
    def pointer(self) -> Path:
        """Names `home` where it is elsewhere."""
        return self.folder / "home"

    @property
    def users_lock(self) -> Path:
        """Held shared by every process that uses the server."""
        return self.folder / "users.lock"

    @property
    def change_lock(self) -> Path:
        """Held by who starts or stops the server."""
        return self.folder / "change.lock"

    @property
    def cluster(self) -> Path:
        """Postgres's own folder."""
        return self.home / "cluster"

    @property
    def log(self) -> Path:
        """What Postgres says."""
        return self.home / "postgres.log"

    @property
    def socket(self) -> Path:
        """The folder of the unix socket: in `home` where that is short enough for a socket."""
        inside = self.home / "socket"
        if len(os.fsencode(inside)) <= _MAX_SOCKET_PATH:
            return inside
        digest = sha256(os.fsencode(self.data)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"ampup-{os.getuid()}-{digest}"

    def dsn(self, database: str = ROLE) -> str:
        """Return the libpq URL of a database of the server."""
        host = quote(str(self.socket), safe="/")
        return f"postgresql://{ROLE}@/{database}?host={host}"


def layout_of(data: Path) -> Layout:
    """Return the files of the data folder's server, running or not."""
    data = data.absolute()
    folder = data / "postgres"
    try:
        home = Path((folder / "home").read_text().strip())
    except OSError:
        home = folder
    return Layout(data=data, home=home)
