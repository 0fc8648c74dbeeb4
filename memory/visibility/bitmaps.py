"""Roaring bitmaps of ACL sets, one for each ACL entry of a scope: who sees what is their union."""

from collections.abc import Iterable

from pyroaring import BitMap


def with_sets(bitmap: bytes | None, acl_set_ids: Iterable[int]) -> bytes | None:
    """Return the bitmap with these sets in it; None if it holds them all already."""
    present = BitMap.deserialize(bitmap) if bitmap else BitMap()
    before = len(present)
    present.update(acl_set_ids)
    return present.serialize() if len(present) > before else None


def union(bitmaps: Iterable[bytes]) -> tuple[int, ...]:
    """Return the ACL sets that any of the bitmaps holds, ascending."""
    return tuple(BitMap.union(BitMap(), *[BitMap.deserialize(bitmap) for bitmap in bitmaps]))
