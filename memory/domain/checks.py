"""What an episode's fields may hold: each check names the field and says what would do."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from ampup_site.kernel.canonical import Canonical, canonical_json
from ampup_site.kernel.errors import BadRequest, TooLarge
from memory.domain.limits import (
    MAX_ABOUT,
    MAX_BODY_BYTES,
    MAX_DOCUMENT_CHARS,
    MAX_META_BYTES,
    MAX_META_DEPTH,
    MAX_REASON_CHARS,
    MAX_SOURCE_CHARS,
    MAX_TAGS,
)

_TAG: Final = re.compile(r"[a-z0-9_-]{1,40}\Z")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_UNSTORABLE: Final = re.compile(r"[\x00\ud800-\udfff]")
_WHOLE_LIMIT: Final = 2**63
"""JSON readers turn larger numbers into fractions."""

_BLANK: Final = re.compile(r"[\s\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\u00ad]*\Z")
_ABOUT_CHARS: Final = 200


def check_body(body: str, *, field: str = "body") -> int:
    """Return the body's length in bytes of UTF-8; the text itself is kept verbatim.

    Raises:
        BadRequest: it says nothing, or holds a character that no store keeps.
        TooLarge: it is over 2 MiB.
    """
    if _BLANK.match(body):
        message = f"`{field}` must hold some text."
        raise BadRequest(message, field=field)
    if "\x00" in body:
        message = f"`{field}` must not hold the character U+0000; take it out and send it again."
        raise BadRequest(message, field=field)
    try:
        length = len(body) if body.isascii() else len(body.encode())
    except UnicodeEncodeError:
        message = f"`{field}` holds half of a surrogate pair, which is no text; replace it."
        raise BadRequest(message, field=field) from None
    if length > MAX_BODY_BYTES:
        message = f"`{field}` has {length} bytes; the limit is {MAX_BODY_BYTES}: split it."
        raise TooLarge(message, field=field)
    return length


def check_source(source: str, *, field: str = "source") -> str:
    """Return a source as it is given.

    Raises:
        BadRequest: it is empty, too long or holds control characters.
    """
    if not source.strip():
        message = f"`{field}` must name where the text comes from, like `note:acme`."
        raise BadRequest(message, field=field)
    return _check_line(source, field=field, limit=MAX_SOURCE_CHARS)


def check_document(document: str | None) -> str | None:
    """Return a document key; it is a name and never a path."""
    if document is None:
        return None
    if not document.strip():
        message = "`document` must name the document, or be left out."
        raise BadRequest(message, field="document")
    return _check_line(document, field="document", limit=MAX_DOCUMENT_CHARS)


def check_reason(reason: str | None) -> str | None:
    """Return why something is done, as the ledger keeps it; it may have several lines.

    Raises:
        BadRequest: it is too long, or holds a character that no store keeps.
    """
    if reason is None:
        return None
    if len(reason) > MAX_REASON_CHARS:
        message = f"`reason` has {len(reason)} characters; the limit is {MAX_REASON_CHARS}."
        raise BadRequest(message, field="reason")
    if _UNSTORABLE.search(reason):
        message = "`reason` must not hold U+0000 or half a surrogate pair."
        raise BadRequest(message, field="reason")
    return reason


def check_about(about: Sequence[str]) -> tuple[str, ...]:
    """Return the entity ids, each once, in order."""
    if len(about) > MAX_ABOUT:
        message = f"`about` holds {len(about)} entities; the limit is {MAX_ABOUT}."
        raise BadRequest(message, field="about")
    for entity in about:
        if not entity.strip():
            message = "`about` must not hold an empty entity id."
            raise BadRequest(message, field="about")
        _check_line(entity, field="about", limit=_ABOUT_CHARS)
    return tuple(dict.fromkeys(about))


def check_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return the tags, each once, in order."""
    if len(tags) > MAX_TAGS:
        message = f"`tags` holds {len(tags)} tags; the limit is {MAX_TAGS}."
        raise BadRequest(message, field="tags")
    for tag in tags:
        if not _TAG.match(tag):
            message = "`tags` are 1 to 40 of a-z, 0-9, _ and -, in lower case."
            raise BadRequest(message, field="tags")
    return tuple(dict.fromkeys(tags))


def check_meta(meta: Mapping[str, Canonical] | None) -> str | None:
    """Return `meta` as canonical JSON.

    Raises:
        BadRequest: it is too long or nested too deeply, or holds what a reader would not get
            back as it was given: fractions, numbers beyond 64 bits, control characters.
    """
    if meta is None:
        return None
    _check_meta_value(meta, depth=1)
    text = canonical_json(meta).decode()
    if len(text.encode()) > MAX_META_BYTES:
        raise _bad_meta(f"is over {MAX_META_BYTES} bytes of JSON; a text belongs into the body")
    if _CONTROL.search(text):
        raise _bad_meta("must not hold control characters")
    return text


def _check_meta_value(value: object, *, depth: int) -> None:
    if depth > MAX_META_DEPTH:
        raise _bad_meta(f"must not be nested more than {MAX_META_DEPTH} deep")
    if isinstance(value, Mapping):
        for item in (*value, *value.values()):
            _check_meta_value(item, depth=depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            _check_meta_value(item, depth=depth + 1)
    else:
        _check_meta_leaf(value)


def _check_meta_leaf(value: object) -> None:
    if isinstance(value, float):
        raise _bad_meta("must hold no fractions, whose digits differ by program; give a text")
    if isinstance(value, int) and abs(value) >= _WHOLE_LIMIT:
        raise _bad_meta("must hold no whole numbers beyond 64 bits; give a text")
    if isinstance(value, str) and _UNSTORABLE.search(value):
        raise _bad_meta("must not hold U+0000 or half a surrogate pair")


def _bad_meta(fault: str) -> BadRequest:
    return BadRequest(f"`meta` {fault}.", field="meta")


def _check_line(text: str, *, field: str, limit: int) -> str:
    if len(text) > limit:
        message = f"`{field}` has {len(text)} characters; the limit is {limit}."
        raise BadRequest(message, field=field)
    if _CONTROL.search(text):
        message = f"`{field}` must not hold control characters or half surrogates."
        raise BadRequest(message, field=field)
    return text
