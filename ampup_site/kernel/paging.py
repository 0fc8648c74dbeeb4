"""Cursors of lists: opaque to callers, to us the place of the last row that was shown."""

import base64
import binascii
import struct

from ampup_site.kernel.errors import BadRequest


def encode_cursor(moment: int, key: bytes) -> str:
    """Return a cursor that holds a signed 64-bit integer and a key.

    Both must be shown in the list itself: whoever takes a cursor apart learns nothing.
    """
    return base64.urlsafe_b64encode(struct.pack(">q", moment) + key).decode().rstrip("=")


def decode_cursor(cursor: str, *, key_bytes: int) -> tuple[int, bytes]:
    """Return what a cursor of ours holds.

    Raises:
        BadRequest: it is none.
    """
    try:
        packed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        moment, key = struct.unpack(f">q{key_bytes}s", packed)
    except (binascii.Error, struct.error, ValueError):
        message = "`cursor` must be a `next_cursor` as it was answered."
        raise BadRequest(message, field="cursor") from None
    return moment, key
