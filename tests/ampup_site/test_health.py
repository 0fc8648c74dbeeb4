"""What `/readyz` tells of the server's parts."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from ampup_site.health import warehouse_state


@pytest.mark.parametrize(("free", "state"), [(0, "full"), (2**20 - 4096, "full"), (2**20, "ok")])
def test_a_full_disk_is_not_ready(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, state: str
) -> None:
    """Regression: every write was refused for want of room while readyz said ok."""
    room = SimpleNamespace(f_bavail=free // 4096, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda _folder: room)
    assert warehouse_state(tmp_path / "not made yet") == state


def test_a_file_in_the_warehouses_place_is_not_writable(tmp_path: Path) -> None:
    """Ours: what cannot become a folder is no warehouse."""
    (tmp_path / "warehouse").write_text("")
    assert warehouse_state(tmp_path / "warehouse" / "data") == "not writable"
