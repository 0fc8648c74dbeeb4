"""Results: one JSON line each, judged against a bar, and kept with the machine they came from."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

RESULTS: Final = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Bar:
    """What a result must meet.

    Args:
        on: whether the limit is for the ratio or for the value itself.
        side: `most` if the limit is the most allowed, `least` if the least.
    """

    limit: float
    on: Literal["ratio", "value"]
    side: Literal["most", "least"]

    def text(self, unit: str) -> str:
        """Return the bar as it is written in the table of bars."""
        sign = "<=" if self.side == "most" else ">="
        return f"{sign} {self.limit:g} {'x' if self.on == 'ratio' else unit}"


@dataclass(frozen=True, slots=True)
class Result:
    """One figure.

    Args:
        baseline: in the same unit; None where the bar is on the value itself.
        bar: None for a figure that only explains another.
    """

    name: str
    value: float
    unit: str
    baseline: float | None = None
    bar: Bar | None = None

    @property
    def ratio(self) -> float | None:
        """The value over its baseline."""
        return self.value / self.baseline if self.baseline else None

    @property
    def passed(self) -> bool | None:
        """Whether the bar is met; None without one."""
        if self.bar is None:
            return None
        judged = self.ratio if self.bar.on == "ratio" else self.value
        if judged is None:
            return False
        return judged <= self.bar.limit if self.bar.side == "most" else judged >= self.bar.limit

    def line(self) -> dict[str, object]:
        """Return the result as it is printed and kept."""
        return {
            "name": self.name,
            "value": _digits(self.value),
            "unit": self.unit,
            "baseline": _digits(self.baseline),
            "ratio": _digits(self.ratio),
            "bar": self.bar.text(self.unit) if self.bar else None,
            "passed": self.passed,
        }


def at_most(limit: float) -> Bar:
    """Return a bar on the ratio that must not be exceeded."""
    return Bar(limit, "ratio", "most")


def at_least(limit: float) -> Bar:
    """Return a bar on the ratio that must be reached."""
    return Bar(limit, "ratio", "least")


def value_at_most(limit: float) -> Bar:
    """Return a bar on the value that must not be exceeded."""
    return Bar(limit, "value", "most")


def value_at_least(limit: float) -> Bar:
    """Return a bar on the value that must be reached."""
    return Bar(limit, "value", "least")


def _digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def render_line(result: Result) -> str:
    """Return a result as one line of JSON."""
    return json.dumps(result.line())


def machine(postgres: Mapping[str, str]) -> dict[str, object]:
    """Say what the figures were taken on, without naming the host."""
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "postgres": dict(postgres),
    }


def keep(
    results: Sequence[Result], *, machine: Mapping[str, object], taken_at: str, small: bool
) -> Path:
    """Write the results of a run; a partial run replaces only the benches it ran.

    Small runs are kept apart: their corpus is not the one the bars speak of.
    """
    path = RESULTS / ("small.json" if small else "latest.json")
    old = json.loads(path.read_text())["results"] if path.exists() else []
    lines = merge([result.line() for result in results], old)
    RESULTS.mkdir(exist_ok=True)
    document = {"taken_at": taken_at, "machine": dict(machine), "results": lines}
    path.write_text(json.dumps(document, indent=1) + "\n")
    return path


def merge(
    new: Sequence[dict[str, object]], old: Sequence[dict[str, object]]
) -> list[dict[str, object]]:
    """Return the new lines, and the old ones of benches that the new run left out."""
    benches = {bench_of(str(line["name"])) for line in new}
    return [line for line in old if bench_of(str(line["name"])) not in benches] + list(new)


def bench_of(name: str) -> str:
    """Return the bench that a figure belongs to: its name up to the first dot."""
    return name.partition(".")[0]
