"""Work that goes on beside a measurement, in a process of its own as in real life.

`python -m bench.child load COUNT STREAM` and `python -m bench.child rebuild`, on the store that
the environment names.  Prints `begun` when it starts, so that nobody measures an import.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import django


@contextmanager
def beside(*work: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run work in a child process that has begun when the block does; wait for it at the end.

    Raises:
        RuntimeError: it failed; what it said stands on standard error.
    """
    command = [sys.executable, "-m", "bench.child", *work]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: S603 -- ours
        assert process.stdout is not None
        try:
            begun = process.stdout.readline() == b"begun\n"
            if begun:
                yield process
        except BaseException:
            process.kill()
            raise
        if process.wait() != 0 or not begun:
            message = f"{' '.join(work)} failed"
            raise RuntimeError(message)


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
            with running_engine() as engine:
                print("begun", flush=True)
                load(engine, fresh_scope("load"), list(drafts(texts, prefix=f"child/{stream}")))
        case ["rebuild"]:
            with running_engine() as engine:
                print("begun", flush=True)
                rebuild(engine)
        case unknown:
            sys.exit(f"error: {unknown} is none of load COUNT STREAM, rebuild")


if __name__ == "__main__":
    main()
