"""The compact postings column: which terms a passage has, how often, and how long its fields are.

Layout, little-endian: version u8, fields u8, terms u16; a length u32 for each field; the terms'
hashes u32, in the order the text has them; for each field the frequency of each term u8, at
most 255. Terms that share a hash are one to the ranking, which at 200 terms of 2**32 happens to
one passage in 200,000.
"""

import struct
import zlib
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Final

import numpy as np
import numpy.typing as npt

from memory.domain.analyzer import Lexemes

_VERSION: Final = 1
_HEAD: Final = struct.Struct("<BBH")
_MAX_TERMS: Final = 0xFFFF
_HASHES_LIMIT: Final = 200_000


class _Hashes(dict[str, int]):
    def __missing__(self, term: str) -> int:
        if len(self) > _HASHES_LIMIT:
            self.clear()
        value = self[term] = zlib.crc32(term.encode())
        return value


_hashes: Final = _Hashes()


def pack(fields: Sequence[Lexemes]) -> bytes:
    """Return the column for a passage's fields, in the order the ranking weighs them."""
    if len(fields) == 1:
        terms = fields[0].terms
        hashes: Iterable[int] = map(_hashes.__getitem__, islice(terms, _MAX_TERMS))
        tables = [list(islice(terms.values(), _MAX_TERMS))]
        size = len(tables[0])
    else:
        totals = _several(fields)
        size = min(len(totals), _MAX_TERMS)
        hashes = islice(totals, size)
        tables = [
            [counts[place] for counts in islice(totals.values(), size)]
            for place in range(len(fields))
        ]
    return b"".join(
        (
            _HEAD.pack(_VERSION, len(fields), size),
            struct.pack(f"<{len(fields)}I", *[field.length for field in fields]),
            struct.pack(f"<{size}I", *hashes),
            *map(_saturated, tables),
        )
    )


def _saturated(counts: list[int]) -> bytes:
    """Return each count as a byte, at most 255."""
    try:
        return bytes(counts)
    except ValueError:
        return bytes([min(count, 255) for count in counts])


def _several(fields: Sequence[Lexemes]) -> dict[int, tuple[int, ...]]:
    totals: dict[int, list[int]] = {}
    for place, field in enumerate(fields):
        for term, count in field.terms.items():
            totals.setdefault(_hashes[term], [0] * len(fields))[place] += count
    return {value: tuple(counts) for value, counts in totals.items()}


def frequencies(
    columns: Sequence[bytes], terms: Sequence[str]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Look up terms in the columns of passages that were packed with the same fields.

    Returns:
        How often each term stands in each field, of shape (passages, fields, terms), and the
        fields' lengths, of shape (passages, fields).
    """
    wanted, place_of = np.unique(
        np.fromiter(map(_hashes.__getitem__, terms), "<u4", len(terms)), return_inverse=True
    )
    fields = columns[0][1] if columns else 1
    counts = np.zeros((len(columns), fields, len(wanted)))
    sizes = [_HEAD.unpack_from(column)[2] for column in columns]
    start = _HEAD.size + 4 * fields
    lengths = _joined([column[_HEAD.size : start] for column in columns], "<u4")
    hashes = _joined(
        [column[start : start + 4 * n] for column, n in zip(columns, sizes, strict=True)], "<u4"
    )
    rows = np.repeat(np.arange(len(columns)), sizes)
    places = np.minimum(np.searchsorted(wanted, hashes), max(len(wanted) - 1, 0))
    found = wanted[places] == hashes if len(wanted) else np.zeros(len(hashes), bool)
    for field in range(fields):
        table = _joined(
            [
                column[start + (4 + field) * n : start + (5 + field) * n]
                for column, n in zip(columns, sizes, strict=True)
            ],
            "u1",
        )
        counts[rows[found], field, places[found]] = table[found]
    return counts[:, :, place_of], lengths.reshape(len(columns), fields).astype(float)


def _joined(pieces: Sequence[bytes], kind: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(b"".join(pieces), kind)


class _Lexemes(dict[str, bytes]):
    def __missing__(self, term: str) -> bytes:
        if len(self) > _HASHES_LIMIT:
            self.clear()
        # A zero ends the word; a 16-bit zero says that no positions follow.
        value = self[term] = term.encode() + b"\0\0\0"
        return value


_binary: Final = _Lexemes()


def tsvector_binary(terms: Collection[str]) -> bytes:
    """Return lexemes, each once, as a COPY in binary takes a tsvector.

    Postgres sorts them; its parser of the text form would cost more than all else of a row.
    """
    return struct.pack(">i", len(terms)) + b"".join(map(_binary.__getitem__, terms))


def tsquery_text(terms: Sequence[str]) -> str:
    """Return the query that matches any of the lexemes, as Postgres reads a tsquery."""
    return " | ".join(_quoted(term) for term in terms)


def _quoted(term: str) -> str:
    escaped = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
