"""`make quality`: serves, lets the harness ask on all sets together, and prints the table.

The harness and its data are folders that `MEMBENCH` and `DATA` name; nothing of them is here. A
set is any folder of DATA that has docs.jsonl and queries.jsonl.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.server import serving_alone

_HERE: Final = Path(__file__).parent
_RESULTS: Final = _HERE.parent / "results"
_ROWS: Final = _HERE.parent.parent / ".cache" / "quality"
_SHOWN: Final = ("recall@10", "ndcg@10", "mrr", "ctx@2000", "ctx@4000")
_PRODUCTS: Final = ("rest", "sessions", "mcp")


@dataclass(frozen=True, slots=True)
class Run:
    """One set, asked one way."""

    data: Path
    product: str
    leave_out: Sequence[str]

    @property
    def name(self) -> str:
        """Name the result: the set alone for the plain way."""
        return self.data.name if self.product == "rest" else f"{self.data.name}.{self.product}"


def main() -> int:
    """Run; the exit code is 2 if the folders are not named."""
    options = _options()
    harness, data = (os.environ.get(name, "") for name in ("MEMBENCH", "DATA"))
    if not harness or not data:
        _say("Name the harness and its data: make quality MEMBENCH=<folder> DATA=<folder>")
        return 2
    runs = list(_runs(Path(data), options))
    if not runs:
        _say(f"No set stands in {data}: a set has docs.jsonl and queries.jsonl.")
        return 2
    _ROWS.mkdir(parents=True, exist_ok=True)
    path = _RESULTS / "quality.json"
    figures = json.loads(path.read_text()) if path.exists() else {}
    with _served(options.embedder) as url:
        for run in runs:
            name = run.name if options.embedder == "local" else f"{run.name}.keyword"
            old = figures.get(name)
            new = _ask(Path(harness), run, url, name)
            figures[name] = new
            path.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
            _say(_line(name, new, old))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="sets by name; all if none")
    parser.add_argument("--ways", nargs="*", default=list(_PRODUCTS), choices=_PRODUCTS)
    parser.add_argument("--embedder", choices=("local", "none"), default="local")
    parser.add_argument("--leave-out", nargs="*", default=["adversarial"], help="categories")
    return parser.parse_args()


def _runs(data: Path, options: argparse.Namespace) -> Iterator[Run]:
    for way in options.ways:
        for folder in sorted(data.iterdir()):
            if options.only and folder.name not in options.only:
                continue
            if not all((folder / name).exists() for name in ("docs.jsonl", "queries.jsonl")):
                continue
            if way == "sessions" and not _has_sessions(folder):
                continue
            yield Run(folder, way, options.leave_out)


def _has_sessions(folder: Path) -> bool:
    """Tell whether several documents of a set make up a session."""
    seen: set[tuple[str, str]] = set()
    with (folder / "docs.jsonl").open() as lines:
        for line in lines:
            row = json.loads(line)
            key = (row["collection"], str((row.get("meta") or {}).get("session")))
            if key in seen:
                return True
            seen.add(key)
    return False


@contextmanager
def _served(embedder: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="ampup-quality-") as folder:
        data = Path(folder) / "data"
        with serving_alone(data, AMPUP_MEMORY_EMBEDDER=embedder) as url:
            body = json.dumps({"org": "quality"}).encode()
            _post(f"{url}/orgs", body)
            yield url


def _post(url: str, body: bytes) -> None:
    from urllib.request import Request, urlopen

    request = Request(url, body, {"content-type": "application/json"})  # noqa: S310 -- loopback
    with urlopen(request, timeout=60) as response:  # noqa: S310 -- loopback
        response.read()


def _ask(harness: Path, run: Run, url: str, name: str) -> dict[str, float]:
    settings = json.loads((_HERE / f"{run.product}.json").read_text()) | {"base_url": url}
    rows, before = _ROWS / f"{name}.jsonl", _ROWS / f"{name}.before.jsonl"
    if rows.exists():
        rows.replace(before)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as product:
        json.dump(settings, product)
        product.flush()
        words = [sys.executable, "-m", "membench.run_eval", str(run.data), "--product"]
        words += [product.name, "--out", str(rows)]
        if run.leave_out:
            words += ["--skip-category", *run.leave_out]
        if before.exists():
            words += ["--baseline", str(before)]
        environment = {**os.environ, "PYTHONPATH": str(harness)}
        ran = subprocess.run(  # noqa: S603 -- the harness that the caller names
            words, env=environment, capture_output=True, text=True, check=False
        )
    if ran.returncode:
        raise SystemExit(f"{name}: the harness failed\n{ran.stderr[-2000:]}")
    for line in ran.stdout.splitlines():
        if "vs baseline" in line:
            _say(line)
    return _means(rows, run.leave_out)


def _means(rows: Path, leave_out: Sequence[str]) -> dict[str, float]:
    """Return the mean of each measure over the questions, by the harness's names."""
    lines = [json.loads(line) for line in rows.read_text().splitlines()]
    asked = [line for line in lines if line["category"] not in leave_out]
    figures = {}
    for measure in _SHOWN:
        values = [line[measure] for line in asked if measure in line]
        if values:
            figures[measure] = round(sum(values) / len(values), 4)
    for category in sorted({line["category"] for line in asked}):
        values = [line["recall@10"] for line in asked if line["category"] == category]
        figures[f"recall@10 {category}"] = round(sum(values) / len(values), 4)
    return figures


def _line(name: str, new: dict[str, float], old: dict[str, float] | None) -> str:
    shown = []
    for measure in _SHOWN:
        if measure in new:
            change = f" ({new[measure] - old[measure]:+.3f})" if old and measure in old else ""
            shown.append(f"{measure} {new[measure]:.3f}{change}")
    return f"{name:24s} {'  '.join(shown)}"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
