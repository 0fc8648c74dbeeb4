"""Cursors of lists: opaque to callers, a few integers to us."""

import base64
import binascii
import struct

from ampup_site.kernel.errors import BadRequest


def encode_cursor(*parts: int) -> str:
    """Return a cursor that holds signed 64-bit integers."""
    packed = struct.pack(f">{len(parts)}q", *parts)
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def decode_cursor(cursor: str, *, parts: int) -> tuple[int, ...]:
    """Return the integers of a cursor of ours.

    Raises:
        BadRequest: it is none.
    """
    try:
        packed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        return struct.unpack(f">{parts}q", packed)
    except (binascii.Error, struct.error, ValueError):
        message = "`cursor` must be a `next_cursor` as it was answered."
        raise BadRequest(message, field="cursor") from None
