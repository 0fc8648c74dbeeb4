"""Which embedder gives texts their meaning: the local one, a server's, or none."""

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from ampup_site.settings import env
from ampup_site.settings.env import BadSetting

_MOST_WIDE: Final = 4_000
"""Postgres indexes vectors of half precision up to so many numbers."""


@dataclass(frozen=True, slots=True)
class ServedEmbedder:
    """An OpenAI-compatible API that computes vectors.

    Args:
        url: its base, to which `/embeddings` is added.
        width: how many numbers a vector of the model has.
    """

    url: str
    model: str
    width: int
    key: str | None = field(repr=False)


ChosenEmbedder: TypeAlias = Literal["local"] | ServedEmbedder | None


def embedder() -> ChosenEmbedder:
    """Return what `AMPUP_MEMORY_EMBEDDER` names; the local one without.

    Raises:
        BadSetting: it is neither `local`, `none` nor a URL, or one of the variables that go with
            a URL is missing.
    """
    value = env.text("EMBEDDER", "local")
    if value == "none":
        return None
    if value == "local":
        return "local"
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        message = (
            f"{env.PREFIX}EMBEDDER must be `local`, `none` or the URL of an OpenAI-compatible API,"
            " like https://api.example.com/v1."
        )
        raise BadSetting(message)
    model = env.text("EMBEDDER_MODEL", "")
    if not model:
        message = f"{env.PREFIX}EMBEDDER_MODEL must name the model of {env.PREFIX}EMBEDDER."
        raise BadSetting(message)
    width = env.whole("EMBEDDER_WIDTH", default=0, low=0, high=_MOST_WIDE)
    if not width:
        message = f"{env.PREFIX}EMBEDDER_WIDTH must say how many numbers a vector of {model} has."
        raise BadSetting(message)
    return ServedEmbedder(value, model, width, env.text("EMBEDDER_KEY", "") or None)
