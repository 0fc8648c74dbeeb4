"""What an embedder is, whatever computes its vectors."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ampup_site.kernel.errors import AmpUpError, ErrorKind

Pieces: TypeAlias = npt.NDArray[np.float32]
"""The vectors of a text's pieces, of shape (pieces, width), each of length 1; at least one."""


class EmbedderFailed(AmpUpError):
    """An embedder raised, took too long, or answered what is no vector of its width."""

    kind = ErrorKind.UNAVAILABLE
    code = "embedder_failed"


class Embedder(Protocol):
    """Computes vectors; safe to call from several threads."""

    @property
    def fingerprint(self) -> str:
        """Name the model and everything else that would change a vector."""

    @property
    def width(self) -> int:
        """Tell how many numbers a vector has."""

    @property
    def scripts(self) -> frozenset[str] | None:
        """Name the scripts it reads, as `script_of` does; None if all."""

    def embed(self, texts: Sequence[str]) -> list[Pieces]:
        """Return the vectors of each text, in order.

        Raises:
            EmbedderFailed: there are none.
        """
