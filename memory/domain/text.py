"""The text answer of a search: quoted passages with citations, then the episodes they are of.

Its layout is read by people and language models; lines of the answer's own begin at the margin,
what is quoted goes on indented, so that no stored text can pass for a line of ours.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ampup_site.kernel.clock import Micros
from memory.domain.graphemes import cut_before
from memory.domain.limits import DEFAULT_CHARS
from memory.domain.times import format_day

NOTHING: Final = "Nothing found."
_HEADING: Final = "In the sources:"
_EPISODES: Final = "\nEpisodes:"
_MORE_ROOM: Final = len("\n… 200 more")
_SOURCE_CHARS: Final = 120
"""A longer source is shortened here; the JSON form has it in full."""

_LINE_END: Final = re.compile(r"\r\n?|\n|\x85|\u2028|\u2029")


@dataclass(frozen=True, slots=True)
class HitView:
    """A passage as it is shown.

    Args:
        label: its units as citations name them, `p2` or `t3-t9`.
    """

    episode_id: str
    source: str
    episode_type: str
    occurred_at: Micros
    label: str
    text: str


def render_hits(hits: Sequence[HitView], *, max_chars: int = DEFAULT_CHARS) -> str:
    """Return passages in the order given, whole ones up to `max_chars`, the rest counted.

    A first passage that is too long by itself is shortened, so that an answer is never empty.

    Source: specification, section 9, layout of the text answer.
    """
    if not hits:
        return NOTHING
    room = max_chars - len(_HEADING) - len(_EPISODES) - _MORE_ROOM
    items: list[str] = []
    episodes: dict[str, str] = {}
    for hit in hits:
        n = len(episodes) + 1
        known = episodes.get(hit.episode_id)
        line = known or _episode_line(n, hit)
        number = line.partition(" ")[0]
        space = room - (0 if known else len(line) + 1)
        item = _item(number, hit)
        if len(item) + 1 > space:
            if items:
                break
            item = _shortened(item, space - 1)
        items.append(item)
        episodes[hit.episode_id] = line
        room = space - len(item) - 1
    left_out = len(hits) - len(items)
    more = [f"… {left_out} more"] if left_out else []
    return "\n".join((_HEADING, *items, *more, _EPISODES, *episodes.values()))


def _item(number: str, hit: HitView) -> str:
    quoted = "\n  ".join(_LINE_END.split(hit.text.strip()))
    return f'- [{number} {hit.label}] "{quoted}"'


def _episode_line(n: int, hit: HitView) -> str:
    source = hit.source
    if len(source) > _SOURCE_CHARS:
        source = source[: cut_before(source, _SOURCE_CHARS - 1)] + "…"
    day = format_day(hit.occurred_at)
    return f"e{n} = {hit.episode_id}   {hit.episode_type}  {source}   {day}"


def _shortened(item: str, chars: int) -> str:
    return item[: cut_before(item, max(chars - 2, 1))] + '…"'
