"""Takes the measurements that were asked for and prints one JSON line a result."""

import argparse
import gc
import sys
from datetime import UTC, datetime
from importlib import import_module
from typing import Final

from bench.database import database_server
from bench.durability import (
    NotRecordable,
    check_recordable,
    database_folder,
    filesystem_of,
    read_settings,
)
from bench.engines import set_up
from bench.report import Result, keep, machine, render_line
from bench.store import CACHE, Store, alone

BENCHES: Final = (
    "write_one",
    "write_group",
    "write_scopes",
    "load_rows",
    "load_searchable",
    "lock_hold",
    "write_under_load",
    "batch",
    "search_100k",
    "search_recall",
    "write_growth",
    "rebuild",
)
"""In the order they run; `rebuild` goes on with what `write_growth` left, if it has just run."""


def main() -> int:
    """Run the benches that were asked for; 1 if a bar was missed, 2 if nothing could be taken."""
    chosen = _arguments()
    try:
        with alone(), database_server(CACHE / "postgres") as server:
            store = Store(server, small=chosen.small)
            conditions = _conditions(store)
            set_up(store)
            if not store.is_built():
                import_module("bench.building").build(store)
            results = _run(store, chosen.only or BENCHES)
    except NotRecordable as refusal:
        print(f"error: {refusal}", file=sys.stderr)
        return 2
    taken_at = datetime.now(UTC).isoformat(timespec="seconds")
    path = keep(results, machine=machine(conditions), taken_at=taken_at, small=chosen.small)
    print(f"kept in {path}", file=sys.stderr)
    return int(any(result.passed is False for result in results))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--only", action="append", choices=BENCHES, metavar="NAME", help=", ".join(BENCHES)
    )
    parser.add_argument(
        "--small", action="store_true", help="a fiftieth of the corpus: a trial, no figure"
    )
    return parser.parse_args()


def _conditions(store: Store) -> dict[str, str]:
    """Return Postgres's settings, or refuse the run."""
    store.folder.mkdir(parents=True, exist_ok=True)
    with store.server.connect() as connection:
        settings = read_settings(connection)
        folders = {"warehouse": filesystem_of(store.folder)}
        files = database_folder(connection)
    if files is not None:
        folders["database"] = filesystem_of(files)
    check_recordable(settings, folders)
    return settings


def _run(store: Store, names: "tuple[str, ...] | list[str]") -> list[Result]:
    results: list[Result] = []
    before = ""
    for name in (name for name in BENCHES if name in names):
        bench = import_module(f"bench.{name}")
        if getattr(bench, "GOES_ON_FROM", None) != before:
            store.restore()
        gc.collect()
        for result in bench.run(store):
            print(render_line(result), flush=True)
            results.append(result)
        before = name
    return results
