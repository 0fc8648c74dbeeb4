"""Splits a stream into lines without ever holding more than one line of the largest size."""

from collections.abc import Iterable, Iterator


def bounded_lines(chunks: Iterable[bytes], *, limit: int) -> Iterator[tuple[int, bytes | None]]:
    r"""Yield each line's number, from 1, and its bytes without `\n` or `\r\n`.

    A line of more than `limit` bytes is None: it is read past and not kept.
    """
    number, kept, too_long = 1, bytearray(), False
    for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            too_long = too_long or len(kept) + len(piece) > limit
            yield number, None if too_long else _whole(kept, piece)
            number, too_long = number + 1, False
            kept.clear()
        too_long = too_long or len(kept) + len(rest) > limit
        if too_long:
            kept.clear()
        else:
            kept += rest
    if kept or too_long:
        yield number, None if too_long else _whole(kept, b"")


def _whole(kept: bytearray, piece: bytes) -> bytes:
    line = bytes(kept) + piece if kept else piece
    return line.removesuffix(b"\r")
