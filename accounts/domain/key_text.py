"""A key's text: `msk_`, a public id to find it by, and a secret that is stored nowhere."""

import hashlib
import re
import secrets
from dataclasses import dataclass

from typing_extensions import override

_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PUBLIC_LENGTH = 8
_SECRET_LENGTH = 32  # base62: 190 bits
_KEY = re.compile(rf"msk_([0-9A-Za-z]{{{_PUBLIC_LENGTH}}})_[0-9A-Za-z]{{{_SECRET_LENGTH}}}")
_PUBLIC = re.compile(rf"[0-9A-Za-z]{{{_PUBLIC_LENGTH}}}")


@dataclass(frozen=True, slots=True, repr=False)
class KeyText:
    """A whole key, as it is shown once; its repr is blank, so that no log holds it."""

    text: str
    public_id: str

    @override
    def __repr__(self) -> str:
        """Return the public id alone."""
        return f"KeyText({self.public_id})"

    @property
    def digest(self) -> bytes:
        """SHA-256 of the whole text, 32 bytes; the secret's entropy makes a slow hash needless."""
        return hashlib.sha256(self.text.encode()).digest()


def draw_key() -> KeyText:
    """Return a fresh key from the system's random source."""
    public_id, secret = _draw(_PUBLIC_LENGTH), _draw(_SECRET_LENGTH)
    return KeyText(text=f"msk_{public_id}_{secret}", public_id=public_id)


def read_key(text: str) -> KeyText | None:
    """Return the key a text is, None if it is none by its shape."""
    match = _KEY.fullmatch(text)
    return KeyText(text=text, public_id=match.group(1)) if match else None


def is_public_id(text: str) -> bool:
    """Tell whether a text has the shape of a public id."""
    return _PUBLIC.fullmatch(text) is not None


def _draw(length: int) -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(length))
