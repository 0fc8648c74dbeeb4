"""JSON Lines: one episode a line, with the fields of `POST /episodes`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias, TypeVar, cast

import orjson

from ampup_site.kernel.canonical import Canonical
from ampup_site.kernel.errors import AmpUpError, BadRequest
from memory.domain.checks import check_meta
from memory.domain.limits import MAX_BODY_BYTES
from memory.domain.times import parse_time
from memory.loaders.item import FileItem, Loaded, Refusal
from memory.loaders.lines import bounded_lines

MAX_LINE_BYTES: Final = 6 * MAX_BODY_BYTES + 2**16
r"""A body of the largest size with every character written as `\uXXXX`, and its other fields."""

_BOM: Final = b"\xef\xbb\xbf"
_KNOWN: Final = (
    "source",
    "body",
    "occurred_at",
    "acl",
    "about",
    "tags",
    "document",
    "meta",
    "type",
)
_Fields: TypeAlias = Mapping[str, object]
_T = TypeVar("_T")


def read_jsonl(chunks: Iterable[bytes]) -> Iterator[Loaded]:
    """Yield an episode or a refusal for each line that is not blank.

    Args:
        chunks: the file's bytes in pieces of any size; pieces, not lines, keep memory bounded.
    """
    for number, line in bounded_lines(chunks, limit=MAX_LINE_BYTES):
        if line is None:
            yield number, Refusal(f"The line is over {MAX_LINE_BYTES} bytes; split its body.")
            continue
        text = line.removeprefix(_BOM) if number == 1 else line
        if text.strip():
            yield number, _read(text)


def _read(line: bytes) -> FileItem | Refusal:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return Refusal(f"The line is no JSON in UTF-8: {str(error).partition(':')[0]}.")
    if not isinstance(value, dict):
        return Refusal("The line must be a JSON object with `source` and `body`.")
    try:
        return _item(cast("_Fields", value))
    except AmpUpError as error:
        return Refusal(error.message, error.field)


def _item(fields: _Fields) -> FileItem:
    unknown = next((name for name in fields if name not in _KNOWN), None)
    if unknown is not None:
        message = f"`{unknown[:60]}` is no field of an episode; those are {', '.join(_KNOWN)}."
        raise BadRequest(message, field=unknown[:60])
    occurred_at = fields.get("occurred_at")
    return FileItem(
        source=_required(fields, "source"),
        body=_required(fields, "body"),
        occurred_at=None if occurred_at is None else parse_time(occurred_at, field="occurred_at"),
        acl=_optional(fields, "acl", _texts),
        about=_optional(fields, "about", _texts) or (),
        tags=_optional(fields, "tags", _texts) or (),
        document=_optional(fields, "document", _text),
        meta=_optional(fields, "meta", _mapping),
        episode_type=_optional(fields, "type", _text),
    )


def _required(fields: _Fields, name: str) -> str:
    if fields.get(name) is None:
        message = f"`{name}` is missing."
        raise BadRequest(message, field=name)
    return _text(fields[name], name)


def _optional(fields: _Fields, name: str, read: Callable[[object, str], _T]) -> _T | None:
    value = fields.get(name)
    return None if value is None else read(value, name)


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        message = f"`{name}` must be a text."
        raise BadRequest(message, field=name)
    return value


def _texts(value: object, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        message = f"`{name}` must be a list of texts."
        raise BadRequest(message, field=name)
    return tuple(value)


def _mapping(value: object, name: str) -> Mapping[str, Canonical]:
    if not isinstance(value, dict):
        message = f"`{name}` must be an object."
        raise BadRequest(message, field=name)
    meta = cast("Mapping[str, Canonical]", value)
    check_meta(meta)
    return meta
