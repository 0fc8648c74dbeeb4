"""Work that goes on beside a measurement, in a process of its own as in real life.

`python -m bench.child load COUNT STREAM` and `python -m bench.child rebuild`, on the store that
the environment names.  It says `ready` once everything is imported and drawn, and waits for a
line before it begins, so that nobody measures a start.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import django


@dataclass(frozen=True, slots=True)
class Work:
    """A child process that waits, works, or has ended."""

    process: "subprocess.Popen[bytes]"

    def begin(self) -> None:
        """Let it begin."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"begin\n")
        self.process.stdin.flush()

    def running(self) -> bool:
        """Say whether it has not ended."""
        return self.process.poll() is None


@contextmanager
def beside(*work: str) -> Iterator[Work]:
    """Lend work that is ready to begin; wait for its end after the block.

    Raises:
        RuntimeError: it failed; what it said stands on standard error.
    """
    command = [sys.executable, "-m", "bench.child", *work]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:  # noqa: S603 -- ours
        assert process.stdout is not None
        try:
            ready = process.stdout.readline() == b"ready\n"
            if ready:
                yield Work(process)
        except BaseException:
            process.kill()
            raise
        if process.wait() != 0 or not ready:
            message = f"{' '.join(work)} failed"
            raise RuntimeError(message)


def _await_begin() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


def main() -> None:
    """Do the work that the arguments name."""
    django.setup()
    # Services know their models only once the settings are there.
    from bench.corpus import NOTE_BYTES, TextSource
    from bench.engines import running_engine
    from bench.loading import load
    from bench.notes import drafts, fresh_scope
    from memory.services.indexing import rebuild

    match sys.argv[1:]:
        case ["load", count, stream]:
            texts = TextSource(stream=int(stream)).texts(int(count), NOTE_BYTES)
            episodes = list(drafts(texts, prefix=f"child/{stream}"))
            with running_engine() as engine:
                _await_begin()
                load(engine, fresh_scope("load"), episodes)
        case ["rebuild"]:
            with running_engine() as engine:
                _await_begin()
                rebuild(engine)
        case unknown:
            sys.exit(f"error: {unknown} is none of load COUNT STREAM, rebuild")


if __name__ == "__main__":
    main()
