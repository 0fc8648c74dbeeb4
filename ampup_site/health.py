"""/healthz says that the process lives, /readyz that it can do its work."""

import os
from pathlib import Path
from typing import Final

import psycopg
from django.db import Error, connection
from django.http import HttpRequest, JsonResponse

from ampup_site.kernel.errors import AmpUpError
from ampup_site.kernel.threads import pool
from ampup_site.kernel.version import server_version
from memory.wiring import engine, warehouse_folder

_OK: Final = "ok"
_LEAST_ROOM: Final = 2**20
"""Bytes below which a disk is full: the files of one landing with its manifests and metadata."""


async def healthz(_request: HttpRequest) -> JsonResponse:
    """Answer as long as the event loop turns."""
    return JsonResponse({"ok": True, "version": server_version()})


async def readyz(_request: HttpRequest) -> JsonResponse:
    """Answer 200 if reads and writes can be served, 503 with the failing parts otherwise.

    The parts' states are single words: the reasons are in the log, for the operator.
    """
    checks = await pool().run(check_parts)
    ready = all(state == _OK for state in checks.values())
    body = {"ok": ready, "version": server_version(), "checks": checks}
    return JsonResponse(body, status=200 if ready else 503)


def check_parts() -> dict[str, str]:
    """Return the state of each part: ok, or what it is instead."""
    return {
        "postgres": _postgres(),
        "warehouse": warehouse_state(warehouse_folder()),
        "committer": _committer(),
    }


def _postgres() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (Error, psycopg.Error):
        return "unreachable"
    return _OK


def warehouse_state(root: Path) -> str:
    """Return whether the warehouse's folder, or what it will be made in, takes another write."""
    nearest = next(folder for folder in (root, *root.parents) if folder.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        return "not writable"
    room = os.statvfs(nearest)
    return _OK if room.f_bavail * room.f_frsize >= _LEAST_ROOM else "full"


def _committer() -> str:
    try:
        return _OK if engine().committer.healthy() else "dead"
    except (AmpUpError, Error, psycopg.Error, OSError):
        return "not started"
