"""An embedder behind an OpenAI-compatible `/embeddings`, wherever it runs.

Source: the OpenAI API reference, "Create embeddings"; only what all servers share is asked for.
"""

from collections.abc import Sequence
from time import monotonic, sleep
from typing import Any, Final

import httpx
import numpy as np

from memory.embedding.embedder import EmbedderFailed, Pieces

_BATCH: Final = 64
"""Texts of one request: every server takes so many."""

_SECS: Final = 30.0
"""A call for passages ends by then, waiting included; a query gives up earlier by itself."""

_MOST_WAITED: Final = 10.0
_MAX_CHARS: Final = 8_000
"""Of a text, so much is sent: models read 8,000 tokens, and a passage has 1,500 bytes."""

_AGAIN: Final = frozenset({429, 500, 502, 503, 504})


class RemoteEmbedder:
    """Asks a server; every text is one piece."""

    scripts: Final = None

    def __init__(self, url: str, *, model: str, width: int, key: str | None = None) -> None:
        """Take the API's base URL, like https://api.example.com/v1, and what to ask for."""
        self.width = width
        self._url = f"{url.rstrip('/')}/embeddings"
        self._model = model
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self._http = httpx.Client(headers=headers, timeout=httpx.Timeout(_SECS, connect=5.0))

    @property
    def fingerprint(self) -> str:
        """Name the model and the width, not the server: one model is the same everywhere."""
        return f"{self._model}/{self.width}"

    def embed(self, texts: Sequence[str]) -> list[Pieces]:
        """Return one vector a text; see `Embedder`."""
        end = monotonic() + _SECS
        found: list[Pieces] = []
        for start in range(0, len(texts), _BATCH):
            found += self._batch([_sent(text) for text in texts[start : start + _BATCH]], end)
        return found

    def _batch(self, texts: list[str], end: float) -> list[Pieces]:
        response = self._post(texts, end)
        if response.status_code in _AGAIN:
            wait = min(_waiting(response), _MOST_WAITED)
            if monotonic() + wait < end:
                sleep(wait)
                response = self._post(texts, end)
        if response.status_code != httpx.codes.OK:
            raise EmbedderFailed(f"The embedder answered HTTP {response.status_code}.")
        try:
            rows = sorted(response.json()["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (ValueError, KeyError, TypeError) as error:
            raise EmbedderFailed("The embedder's answer is no list of embeddings.") from error
        return self._checked(vectors, len(texts))

    def _checked(self, vectors: Any, count: int) -> list[Pieces]:
        if vectors.shape != (count, self.width):
            message = (
                f"The embedder answered {vectors.shape} for {count} texts where vectors of"
                f" {self.width} are expected; see AMPUP_MEMORY_EMBEDDER_WIDTH."
            )
            raise EmbedderFailed(message)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(vectors).all() or not lengths.all():
            raise EmbedderFailed("The embedder answered what is no direction.")
        return [row[None, :] for row in vectors / lengths]

    def _post(self, texts: list[str], end: float) -> httpx.Response:
        try:
            return self._http.post(
                self._url,
                json={"model": self._model, "input": texts},
                timeout=httpx.Timeout(max(0.1, end - monotonic()), connect=5.0),
            )
        except httpx.HTTPError as error:
            raise EmbedderFailed(f"The embedder is away ({type(error).__name__}).") from error


def _sent(text: str) -> str:
    """Return what is sent of a text; an empty one is refused by servers."""
    return text[:_MAX_CHARS].strip() or "-"


def _waiting(response: httpx.Response) -> float:
    try:
        return max(0.0, float(response.headers.get("retry-after", "1")))
    except ValueError:
        return 1.0
