"""`python -m bench.table`: writes the kept results into the README as a table."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bench.report import RESULTS

README: Final = Path(__file__).parent / "README.md"
_BEGIN: Final = "<!-- figures:"
_END: Final = "<!-- end of figures -->"


def main() -> int:
    """Replace the README's table by the kept results."""
    path = RESULTS / "latest.json"
    if not path.exists():
        sys.exit("error: nothing was measured yet; run `make bench`")
    README.write_text(with_table(README.read_text(), json.loads(path.read_text())))
    return 0


def with_table(readme: str, document: Mapping[str, object]) -> str:
    """Return the README with a table of the results between its marks."""
    before, _, rest = readme.partition(_BEGIN)
    mark, _, old = rest.partition("\n")
    _, _, after = old.partition(_END)
    return f"{before}{_BEGIN}{mark}\n{render(document)}\n{_END}{after}"


def render(document: Mapping[str, object]) -> str:
    """Return the results as a Markdown table, under a line on the machine."""
    machine, results = document["machine"], document["results"]
    assert isinstance(machine, dict)
    assert isinstance(results, list)
    told = (
        f"Taken at {document['taken_at']} on {machine['cores']} cores, Python {machine['python']},"
        f" Postgres {machine['postgres']['server_version']}.\n"
    )
    head = ["| result | value | unit | baseline | ratio | bar | met |", "|-|-|-|-|-|-|-|"]
    return "\n".join([told, *head, *_lines(results)])


def _lines(results: Sequence[Mapping[str, object]]) -> list[str]:
    met = {True: "yes", False: "**no**", None: ""}
    lines = []
    for result in results:
        passed = result["passed"]
        assert passed is None or isinstance(passed, bool)
        cells = [_cell(result[name]) for name in ("value", "unit", "baseline", "ratio", "bar")]
        lines.append(f"| `{result['name']}` | {' | '.join(cells)} | {met[passed]} |")
    return lines


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:,.4g}" if isinstance(value, float) and value < 10_000 else _whole(value)


def _whole(value: object) -> str:
    return f"{value:,.0f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main())
