"""Canonical JSON and its SHA-256: the bytes that hashes are taken over."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import orjson

Canonical: TypeAlias = "None | bool | int | str | Sequence[Canonical] | Mapping[str, Canonical]"


def canonical_json(value: Canonical) -> bytes:
    """Return UTF-8 JSON: keys sorted by code point, no blanks, no needless escapes.

    Floats have no canonical form here; write them as strings in shortest round-trip form.

    Source: specification, section 8.
    """
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def sha256_hex(content: bytes) -> str:
    """Return the SHA-256 as 64 lower-case hex digits."""
    return hashlib.sha256(content).hexdigest()
