"""Which passages stand before and after one another: in an episode, and through a thread.

A thread is what the messages of one talk share: a source without its last part. An episode of
several passages is a talk of its own, and so is a note that was remembered. Neighbours are looked
for among what the caller sees, at the time of the query: a hidden or forgotten passage is skipped
as if it had never been there, and one that came late takes its place.
"""

import hashlib
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from memory.domain.episode_types import NOTE_PREFIX
from memory.domain.weights import NEIGHBOUR_FADING, NEIGHBOUR_MICROS

Places: TypeAlias = npt.NDArray[np.int64]
Weights: TypeAlias = npt.NDArray[np.float64]

_COLONS: Final = 1
"""A source of two parts, like `note:x`, names nothing that others share but its kind."""


def thread_number(source: str, *, passages: int, rid: int) -> int:
    """Return the signed 64-bit number of the thread an episode belongs to.

    Args:
        passages: how many it has.
        rid: the episode's row, which numbers the thread of an episode that stands alone.
    """
    talk, _, _ = source.rpartition(":")
    if passages != 1 or talk.count(":") < _COLONS or source.startswith(NOTE_PREFIX):
        return rid
    digest = hashlib.blake2b(talk.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def in_thread_order(threads: npt.NDArray[np.int64], occurred: npt.NDArray[np.int64]) -> Places:
    """Return the places of all passages by thread, time and place; threads in no order."""
    return np.lexsort((occurred, threads))


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Passages in the order of their threads, without those that are not seen.

    Args:
        order: places, one behind the other.
        rank: of each place where it stands in `order`; of a hidden one nothing is said.
        talks: of each of `order`, the number of its talk, rising.
        beside: of each of `order`, whether anything stands beside it.
    """

    order: Places
    rank: Places
    talks: Places
    beside: npt.NDArray[np.bool_]

    @classmethod
    def among(
        cls,
        order: Places,
        seen: npt.NDArray[np.bool_],
        *,
        threads: npt.NDArray[np.int64],
        occurred: npt.NDArray[np.int64],
    ) -> "Neighbours":
        """Take the passages of an order by thread that are seen."""
        held = order[seen[order]]
        rank = np.zeros(len(seen), np.int64)
        rank[held] = np.arange(len(held))
        begins = np.diff(threads[held]) != 0
        begins |= np.diff(occurred[held]) > NEIGHBOUR_MICROS
        talks = np.concatenate(([0], np.cumsum(begins)))[: len(held)]
        # One with neither a beginning after it nor one at it has a neighbour.
        beside = np.ones(len(held), bool)
        if len(held):
            beside = ~(np.append(True, begins) & np.append(begins, True))
        return cls(held, rank, talks, beside)

    def spread(self, places: Places, amounts: Weights) -> Weights | None:
        """Return for every place the amounts of its neighbours, faded by distance.

        None if none of the places has a neighbour: then there is nothing to add anywhere.
        """
        at = self.rank[places]
        has = self.beside[at]
        if not has.any():
            return None
        at, amounts = at[has], amounts[has]
        talks = self.talks[at]
        targets, weights = [], []
        for distance, fading in enumerate(NEIGHBOUR_FADING, start=1):
            for to in (at - distance, at + distance):
                inside = (to >= 0) & (to < len(self.order))
                inside[inside] = self.talks[to[inside]] == talks[inside]
                targets.append(to[inside])
                weights.append(fading * amounts[inside])
        got = np.bincount(
            np.concatenate(targets), np.concatenate(weights), minlength=len(self.order)
        )
        spread = np.zeros(len(self.rank))
        spread[self.order] = got
        return spread
