"""Shows how far a load is: a bar where a person watches, a line now and then elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Final, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

_EVERY_SECS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Gauge:
    """Where a load reports.

    Args:
        read: bytes read since the last call.
        landed: episodes dealt with since the last call.
    """

    read: Callable[[int], None]
    landed: Callable[[int], None]


@contextmanager
def gauge(stream: TextIO, *, total: int) -> Iterator[Gauge]:
    """Lend a gauge that writes to a stream.

    Args:
        total: bytes of everything there is to read.
    """
    if stream.isatty():
        with _bar(stream) as bar:
            yield _on_terminal(bar, bar.add_task("loading", total=total, done=0, rate=0.0))
    else:
        yield _in_lines(stream, total)


def _bar(stream: TextIO) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %  {task.fields[done]:,} episodes"),
        TextColumn("{task.fields[rate]:,.0f}/s"),
        TimeRemainingColumn(),
        console=Console(file=stream),
        transient=True,
    )


def _on_terminal(bar: Progress, task: TaskID) -> Gauge:
    began, done = monotonic(), 0

    def landed(count: int) -> None:
        nonlocal done
        done += count
        bar.update(task, done=done, rate=done / max(monotonic() - began, 0.001))

    return Gauge(read=lambda size: bar.advance(task, size), landed=landed)


def _in_lines(stream: TextIO, total: int) -> Gauge:
    began = shown = monotonic()
    size = done = 0

    def read(count: int) -> None:
        nonlocal size
        size += count

    def landed(count: int) -> None:
        nonlocal done, shown
        done += count
        now = monotonic()
        if now - shown >= _EVERY_SECS:
            shown = now
            share = 100 * size // max(total, 1)
            stream.write(f"{share} % read, {done:,} episodes, {done / (now - began):,.0f}/s\n")

    return Gauge(read=read, landed=landed)
