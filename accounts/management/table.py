"""Rows as the plain table that commands write for people."""

from collections.abc import Sequence


def table_lines(rows: Sequence[Sequence[object]], *, columns: Sequence[str]) -> list[str]:
    """Return a header and a line a row, columns padded to their widest cell, `-` for nothing."""
    cells = [list(columns), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]


def _cell(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(str(part) for part in value) or "-"
    return "-" if value is None or value == "" else str(value)
