"""How far a long work is, told while it goes on."""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]
"""Told how much is done, and how much there is."""


def silent(done: int, total: int) -> None:
    """Tell nobody."""
    del done, total
