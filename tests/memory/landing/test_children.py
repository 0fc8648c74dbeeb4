"""Child processes: in order, set up once, and gone without a trace of the pool's own errors."""

import os
import signal

import pytest

from memory.domain.errors import ChildDied
from memory.landing.children import children

_offset = 0


def _set_offset(offset: int) -> None:
    global _offset
    _offset = offset


def _moved(number: int) -> int:
    return number + _offset


def _killed(_number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def test_pieces_come_back_in_order_from_children_that_were_set_up() -> None:
    """Ours: a rebuild and a load go through the same processes."""
    with children(_moved, begin=_set_offset, given=(100,)) as run:
        assert list(run(range(40))) == list(range(100, 140))


def test_a_killed_child_is_an_error_of_ours_that_names_the_remedy() -> None:
    """Regression: a child that ran out of memory ended a command in a traceback."""
    with children(_killed) as run, pytest.raises(ChildDied):
        list(run(range(4)))
