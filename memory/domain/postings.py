"""Which terms a passage has, how often, and how long its fields are: forward and inverted.

Forward, a passage's column, little-endian: version u8, fields u8, flags u8, terms u16; a length
u32 for each field; the terms' keys i64, in the order the text has them; then for each term its
frequency in each field, u8, at most 255. Inverted, for each term of many passages: their numbers
u32, rising, and the same frequencies in the same order, so that the lists of passages that follow
one another are joined by putting them one behind the other.

A term's key is 64 bits of its hash. Among a million terms two share one once in 37 million times.
"""

import hashlib
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from memory.domain.analyzer import Lexemes

FIELDS: Final = 2
"""The body and names.  Source: architecture, section 6."""

ASSISTANT: Final = 1
"""The flag of a passage that an assistant says."""

_VERSION: Final = 3
_HEAD: Final = struct.Struct("<BBBH")
_MAX_TERMS: Final = 0xFFFF
_KEYS_LIMIT: Final = 200_000

Keys: TypeAlias = npt.NDArray[np.int64]
Numbers: TypeAlias = npt.NDArray[np.uint32]
Counts: TypeAlias = npt.NDArray[np.uint8]


class _Keys(dict[str, bytes]):
    def __missing__(self, term: str) -> bytes:
        if len(self) > _KEYS_LIMIT:
            self.clear()
        value = self[term] = hashlib.blake2b(term.encode(), digest_size=8).digest()
        return value


_keys: Final = _Keys()


def term_key(term: str) -> int:
    """Return the signed 64-bit number that stands for a term."""
    return int.from_bytes(_keys[term], "little", signed=True)


def pack(fields: Sequence[Lexemes], *, flags: int = 0) -> bytes:
    """Return the column for a passage's fields, in the order the ranking weighs them."""
    first, *others = fields
    terms = first.terms
    if any(other.terms for other in others):
        totals = _several(fields)
        size = min(len(totals), _MAX_TERMS)
        keys = b"".join(islice(totals, size))
        counts = _saturated([one for each in islice(totals.values(), size) for one in each])
    else:
        size = min(len(terms), _MAX_TERMS)
        keys = b"".join(map(_keys.__getitem__, islice(terms, size)))
        spread = bytearray(len(fields) * size)
        spread[:: len(fields)] = _saturated(list(islice(terms.values(), size)))
        counts = bytes(spread)
    return b"".join(
        (
            _HEAD.pack(_VERSION, len(fields), flags, size),
            struct.pack(f"<{len(fields)}I", *[field.length for field in fields]),
            keys,
            counts,
        )
    )


def _saturated(counts: list[int]) -> bytes:
    """Return each count as a byte, at most 255."""
    try:
        return bytes(counts)
    except ValueError:
        return bytes([min(count, 255) for count in counts])


def _several(fields: Sequence[Lexemes]) -> dict[bytes, list[int]]:
    totals: dict[bytes, list[int]] = {}
    for place, field in enumerate(fields):
        for term, count in field.terms.items():
            totals.setdefault(_keys[term], [0] * len(fields))[place] += count
    return totals


@dataclass(frozen=True, slots=True)
class Forward:
    """The columns of some passages, taken apart.

    Args:
        lengths: of shape (passages, fields).
        flags: of each passage.
        numbers: for each posting, its passage's place among the columns.
        keys: for each posting, its term's key.
        counts: of shape (postings, fields).
    """

    lengths: Numbers
    flags: npt.NDArray[np.uint8]
    numbers: Numbers
    keys: Keys
    counts: Counts


def unpack(columns: Sequence[bytes]) -> Forward:
    """Take columns apart that were packed with the same fields."""
    fields = columns[0][1] if columns else FIELDS
    sizes = [column[3] | column[4] << 8 for column in columns]
    start = _HEAD.size + 4 * fields
    pairs = list(zip(columns, sizes, strict=True))
    lengths = b"".join([column[_HEAD.size : start] for column in columns])
    keys = b"".join([column[start : start + 8 * size] for column, size in pairs])
    counts = b"".join([column[start + 8 * size :] for column, size in pairs])
    return Forward(
        lengths=np.frombuffer(lengths, "<u4").reshape(len(columns), fields),
        flags=np.array([column[2] for column in columns], np.uint8),
        numbers=np.repeat(np.arange(len(columns), dtype=np.uint32), sizes),
        keys=np.frombuffer(keys, "<i8"),
        counts=np.frombuffer(counts, "u1").reshape(-1, fields),
    )


Inverted: TypeAlias = Iterator[tuple[int, bytes, bytes]]


def invert(forward: Forward, *, first: int) -> Inverted:
    """Yield each term's key with its passages' numbers and frequencies, by rising key.

    Args:
        first: the number of the first of these passages.
    """
    if not len(forward.keys):
        return
    order = np.argsort(forward.keys, kind="stable")
    keys = forward.keys[order]
    numbers = (forward.numbers[order] + np.uint32(first)).astype("<u4").tobytes()
    counts = forward.counts[order]
    fields, packed = counts.shape[1], counts.tobytes()
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])).tolist()
    ends = [*starts[1:], len(keys)]
    for key, start, end in zip(keys[starts].tolist(), starts, ends, strict=True):
        yield key, numbers[4 * start : 4 * end], packed[fields * start : fields * end]


def listed(numbers: bytes, counts: bytes, *, fields: int = FIELDS) -> tuple[Numbers, Counts]:
    """Return a term's list as arrays: passage numbers, and frequencies of shape (n, fields)."""
    return np.frombuffer(numbers, "<u4"), np.frombuffer(counts, "u1").reshape(-1, fields)


def lists_of(forward: Forward, keys: Sequence[int]) -> Iterator[tuple[int, Numbers, Counts]]:
    """Yield, for each of the keys that stands anywhere, its place and its list."""
    if not keys:
        return
    wanted = np.array(keys, dtype=np.int64)
    order = np.argsort(wanted)
    places = np.minimum(np.searchsorted(wanted, forward.keys, sorter=order), len(wanted) - 1)
    places = order[places]
    found = np.flatnonzero(wanted[places] == forward.keys)
    places = places[found]
    for place in np.unique(places).tolist():
        held = found[places == place]
        yield place, forward.numbers[held], forward.counts[held]
