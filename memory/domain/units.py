"""Splits a body into the units that citations name: turns, messages, paragraphs or fields.

Every splitter is one pass over the text, so a body of the largest size of any shape is cheap.
The units' spans put together are the body.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from json.decoder import scanstring  # type: ignore[attr-defined]  # no stub has it
from typing import Final

from ampup_site.kernel.errors import BadRequest


class UnitKind(StrEnum):
    """What a type's bodies are made of."""

    TURN = "turn"
    MESSAGE = "message"
    PARAGRAPH = "paragraph"
    FIELD = "field"


_LETTERS: Final = {
    UnitKind.TURN: "t",
    UnitKind.MESSAGE: "m",
    UnitKind.PARAGRAPH: "p",
    UnitKind.FIELD: "f",
}


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a body.

    Args:
        n: its number, from 1.
        start, end: character offsets in the body.
        label: how it is cited, like `t3`.
        speaker: who says it, where the text names them.
    """

    n: int
    start: int
    end: int
    label: str
    speaker: str | None = None


_RANGE: Final = re.compile(r"[a-z]?([1-9][0-9]{0,6})(?:\s*-\s*[a-z]?([1-9][0-9]{0,6}))?", re.ASCII)

_LINE: Final = re.compile(r"(?P<blank>(?:[ \t\r]*\n)++|[ \t\r]+\Z)|[^\n]++\n?")
"""A run of blank lines, or one line that is not blank."""

_TURN_FORM: Final = (
    r"[ \t]{0,8}(?:[\[(]?\d{1,4}[-:./\d TZ,apmAPM]{0,30}[\])]?[ \t]{1,8}(?:[-\u2013][ \t])?)?"
    r"(?P<name>[^\W\d_][^:\n\t]{0,39}):(?=[ \t\r\n]|\Z)"
)
_TURN: Final = re.compile(f"^{_TURN_FORM}", re.MULTILINE)
_MESSAGE: Final = re.compile(
    rf"^(?:[> \t]{{0,20}}On [^\n]{{1,300}} wrote:[ \t\r]*$|{_TURN_FORM})", re.MULTILINE
)
_HEADERS: Final = frozenset(
    (
        *("to", "cc", "bcc", "subject", "date", "sent", "re", "fw", "fwd", "reply-to"),
        *("message-id", "in-reply-to", "references", "content-type", "mime-version"),
        *("attachments", "importance"),
    )
)
_FIELD: Final = re.compile(r"^[ \t]{0,8}[^\s:{}\[\]][^:\n]{0,79}:(?=[ \t\r\n]|\Z)", re.MULTILINE)
_HEADING: Final = re.compile(r"#{1,6}[ \t]")
_LIST_ITEM: Final = re.compile(r"[ \t]{0,12}(?:[-*+\u2022]|\d{1,3}[.)])[ \t]")
_INDENTED: Final = re.compile(r"(?:  |\t)[ \t]*\S")
_FENCE: Final = re.compile(r"[ \t]{0,3}(?:```|~~~)")
_PLAIN: Final = re.compile("")


def parse_units(text: str) -> tuple[int, int]:
    """Return the first and last unit of `7`, `3-7` or, as citations have it, `t3-t7`.

    Raises:
        BadRequest: it is none of these, or ends before it begins.
    """
    match = _RANGE.fullmatch(text.strip())
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if first > last:
        message = "`units` must be one unit or a range of them, like 3-7, counted from 1."
        raise BadRequest(message, field="units")
    return first, last


def split_units(body: str, kind: UnitKind) -> tuple[Unit, ...]:
    """Split a body; a body in which nothing matches is one unit.

    Source: specification, section 6, "Splitters".
    """
    starts = _starts(body, kind)
    if not starts or starts[0][0] > 0:
        if starts and not body[: starts[0][0]].strip():
            starts[0] = (0, starts[0][1])
        else:
            starts.insert(0, (0, None))
    letter = _LETTERS[kind]
    ends = [start for start, _ in starts[1:]] + [len(body)]
    return tuple(
        Unit(n, start, end, f"{letter}{n}", speaker)
        for n, ((start, speaker), end) in enumerate(zip(starts, ends, strict=True), start=1)
    )


def _starts(body: str, kind: UnitKind) -> list[tuple[int, str | None]]:
    """Return where units begin, and who speaks."""
    if kind is UnitKind.PARAGRAPH:
        return [(start, None) for start in _paragraphs(body)]
    if kind is UnitKind.FIELD:
        return [(start, None) for start in _fields(body)]
    if kind is UnitKind.TURN:
        return [(turn.start(), turn["name"].strip()) for turn in _TURN.finditer(body)]
    return list(_messages(body))


def _messages(body: str) -> Iterator[tuple[int, str | None]]:
    for message in _MESSAGE.finditer(body):
        name = message["name"]
        if name is None or name.lower() == "from":
            yield message.start(), None
        elif name.strip().lower() not in _HEADERS:
            yield message.start(), name.strip()


def _paragraphs(body: str) -> list[int]:
    """Return where paragraphs begin: headings join what follows, lists and fences stay whole."""
    if "\n" not in body:
        return [0]
    starts: list[int] = []
    blank, in_list, after_heading, fence = True, False, False, ""
    for line in _LINE.finditer(body):
        if line.lastgroup == "blank":
            blank = True
            continue
        text = line.group()
        if fence:
            fence = "" if text.lstrip().startswith(fence) else fence
            blank = False
            continue
        form = _PLAIN if text[0].isalpha() else _line_form(text)
        heading = form is _HEADING
        goes_on = in_list and form in (_LIST_ITEM, _INDENTED)
        if (blank or heading) and not after_heading and not goes_on:
            starts.append(line.start())
        if form is _FENCE:
            fence = text.lstrip()[:3]
        in_list = form is _LIST_ITEM or goes_on or (in_list and not blank)
        after_heading, blank = heading, False
    return starts


def _line_form(text: str) -> re.Pattern[str]:
    for form in (_FENCE, _LIST_ITEM, _HEADING, _INDENTED):
        if form.match(text):
            return form
    return _PLAIN


def _fields(body: str) -> list[int]:
    members = _json_members(body)
    if members is not None:
        return members
    return [line.start() for line in _FIELD.finditer(body)]


_SPACE: Final = re.compile(r"[ \t\r\n]*")


def _json_members(body: str) -> list[int] | None:
    """Return where the members of a JSON object begin; None if the body is no JSON object."""
    at = _after_space(body, 0)
    if not body.startswith("{", at):
        return None
    decoder = json.JSONDecoder()
    starts: list[int] = []
    try:
        at = _after_space(body, at + 1)
        while not body.startswith("}", at):
            starts.append(at)
            if not body.startswith('"', at):
                return None
            _, at = scanstring(body, at + 1, True)
            at = _after_space(body, at)
            if not body.startswith(":", at):
                return None
            _, at = decoder.raw_decode(body, _after_space(body, at + 1))
            at = _after_space(body, at)
            if body.startswith(",", at):
                at = _after_space(body, at + 1)
            elif not body.startswith("}", at):
                return None
    except (ValueError, RecursionError):
        return None
    return starts if _after_space(body, at + 1) == len(body) else None


def _after_space(body: str, at: int) -> int:
    match = _SPACE.match(body, at)
    return match.end() if match else at
