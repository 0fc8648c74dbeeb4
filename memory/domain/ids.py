"""Ids that come from content, and the types that keep them apart."""

import hashlib
import re
from typing import Final, NewType

from ampup_site.kernel.errors import BadRequest

EpisodeId = NewType("EpisodeId", str)
"""64 lower-case hex digits."""

CommitId = NewType("CommitId", str)
"""`c_` and a ULID; minted, never derived from content."""

Sha256 = NewType("Sha256", str)
"""64 lower-case hex digits."""

SOURCE_AND_BODY: Final = "source_body"
BODY: Final = "body"

_HEX: Final = re.compile(r"[0-9a-f]{64}\Z")


def episode_id(source: str, body: str, *, id_of: str = SOURCE_AND_BODY) -> EpisodeId:
    """Return the SHA-256 of source, a NUL byte and body, or of the body alone.

    The text is taken as it is: no trimming, no normal form.

    Raises:
        BadRequest: `id_of` is neither `source_body` nor `body`.

    Source: specification, section 6.
    """
    if id_of == SOURCE_AND_BODY:
        content = source.encode() + b"\x00" + body.encode()
    elif id_of == BODY:
        content = body.encode()
    else:
        message = f"`id_of` must be `{SOURCE_AND_BODY}` or `{BODY}`."
        raise BadRequest(message, field="id_of")
    return EpisodeId(hashlib.sha256(content).hexdigest())


def body_sha256(body: str) -> Sha256:
    """Return the name under which a body is stored."""
    return Sha256(hashlib.sha256(body.encode()).hexdigest())


def parse_episode_id(text: str) -> EpisodeId:
    """Return an episode id as it was given.

    Raises:
        BadRequest: it is not 64 lower-case hex digits.
    """
    if not _HEX.match(text):
        message = "`episode_id` must be the 64 lower-case hex digits an answer named."
        raise BadRequest(message, field="episode_id")
    return EpisodeId(text)
