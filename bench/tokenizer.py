"""The reference tokenizer: what a bare, well-written analyzer costs, fixed for good.

Rates of writing and rebuilding are ratios to it, so that a slow analyzer of the product cannot
make its own bar easier.  It never changes with the product's.
"""

import multiprocessing
import os
import re
import unicodedata
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter
from typing import Final

import Stemmer

_WORD: Final = re.compile(r"\w+")
_CACHE_LIMIT: Final = 1_000_000


class ReferenceTokenizer:
    """NFKC, words, lower case, Snowball's English stems with a cache; single-threaded."""

    def __init__(self) -> None:
        self._stem = Stemmer.Stemmer("english", 0).stemWord
        self._cache: dict[str, str] = {}

    def tokens(self, text: str) -> list[str]:
        """Return a text's stems in order, repeats included."""
        words = _WORD.findall(unicodedata.normalize("NFKC", text))
        cache = self._cache
        try:
            return [cache[word] for word in words]
        except KeyError:
            if len(cache) > _CACHE_LIMIT:
                cache.clear()
            for word in words:
                if word not in cache:
                    cache[word] = self._stem(word.lower())
            return [cache[word] for word in words]


_shared = ReferenceTokenizer()


def rate_on_one_core(texts: Sequence[str]) -> float:
    """Return texts a second through one warm tokenizer."""
    tokens = _shared.tokens
    for text in texts[:2_000]:
        tokens(text)
    began = perf_counter()
    for text in texts:
        tokens(text)
    return len(texts) / (perf_counter() - began)


class AllCores:
    """A warm tokenizer process for each core, which hold their share of the texts already.

    The texts are sent once and the cores timed alone, so that the baseline pays for nothing
    but tokenizing.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._cores = os.cpu_count() or 1
        shares = [list(texts[core :: self._cores]) for core in range(self._cores)]
        self._count = len(texts)
        # Not forked: this process may run threads and hold connections.
        context = multiprocessing.get_context("forkserver")
        self._pools = [
            ProcessPoolExecutor(1, mp_context=context, initializer=_hold, initargs=(share,))
            for share in shares
        ]
        for pool in self._pools:
            pool.submit(_measure).result()

    def rate(self) -> float:
        """Return texts a second over all cores at once: the slowest core ends the run."""
        running = [pool.submit(_measure) for pool in self._pools]
        return self._count / max(future.result() for future in running)

    def close(self) -> None:
        """End the processes."""
        for pool in self._pools:
            pool.shutdown()


_held: list[str] = []


def _hold(share: list[str]) -> None:
    _held[:] = share


def _measure() -> float:
    tokens = _shared.tokens
    began = perf_counter()
    for text in _held:
        tokens(text)
    return perf_counter() - began
