"""A process that uses a data folder's server until its input ends."""

import sys
from pathlib import Path

from ampup_site.postgres.local import attach, running_pid

if __name__ == "__main__":
    with attach(Path(sys.argv[1])) as server:
        sys.stdout.write(f"{running_pid(server.layout)}\n")
        sys.stdout.flush()
        sys.stdin.read()
