"""get_episode: opens what a citation names."""

from collections.abc import Sequence
from typing import Any, Final, cast

from accounts.domain.roles import Action
from mcp_gateway.bridge import served
from mcp_gateway.tools.arguments import Argument, Kind
from mcp_gateway.tools.tool import Tool, ToolAnswer, ToolCall, closed, moment, text, texts
from memory.domain.episode_views import EpisodeView, UnitView
from memory.domain.graphemes import cut_before
from memory.domain.limits import DEFAULT_CHARS, MAX_CHARS, MIN_CHARS
from memory.domain.times import format_micros
from memory.domain.units import parse_units
from memory.services.episodes import get_episode


async def _run(call: ToolCall) -> ToolAnswer:
    arguments = call.arguments
    asked = cast("str | None", arguments.get("units"))
    episode = await served(
        get_episode,
        call.caller,
        call.scope,
        cast("str", arguments["episode_id"]),
        units=None if asked is None else parse_units(asked),
    )
    return render_episode(episode, max_chars=cast("int", arguments.get("max_chars", DEFAULT_CHARS)))


def render_episode(episode: EpisodeView, *, max_chars: int) -> ToolAnswer:
    """Return an episode as header lines and numbered units, whole ones up to `max_chars`."""
    head = _head(episode)
    units = _fitting(episode.units, max_chars - len(head))
    lines = [_line(unit) for unit in units]
    left_out = episode.units[len(units) :]
    if left_out:
        rest = f"{left_out[0].n}-{left_out[-1].n}"
        lines.append(f'… {len(left_out)} more: ask for them with units "{rest}"')
    if not episode.units:
        lines.append("(it has no such units)")
    return ToolAnswer(
        text="\n".join((head, "", *lines)),
        values={
            "episode": _values(episode),
            "units": [{"n": unit.n, "label": unit.label, "text": unit.text} for unit in units],
            "left_out": len(left_out),
        },
    )


def _fitting(units: Sequence[UnitView], room: int) -> list[UnitView]:
    """Return the units that fit, the first one cut if it alone is too long."""
    fitting: list[UnitView] = []
    for unit in units:
        room -= len(unit.text) + len(unit.label) + 4
        if room < 0 and fitting:
            break
        if room < 0:
            kept = cut_before(unit.text, max(1, len(unit.text) + room - 1))
            fitting.append(UnitView(n=unit.n, label=unit.label, text=f"{unit.text[:kept]}…"))
            break
        fitting.append(unit)
    return fitting


def _line(unit: UnitView) -> str:
    """Return a unit with its label; its own lines go on indented, so that none passes for ours."""
    return f"[{unit.label}] " + "\n  ".join(unit.text.strip().splitlines())


def _head(episode: EpisodeView) -> str:
    lines = [
        f"episode {episode.episode_id}",
        f"source: {episode.source}  type: {episode.episode_type}"
        f"  occurred: {format_micros(episode.occurred_at)}",
    ]
    named = {
        "document": episode.document,
        "about": ", ".join(episode.about),
        "tags": ", ".join(episode.tags),
        "author": episode.author,
    }
    extra = [f"{name}: {value}" for name, value in named.items() if value]
    return "\n".join((*lines, "  ".join(extra))) if extra else "\n".join(lines)


def _values(episode: EpisodeView) -> dict[str, Any]:
    values: dict[str, Any] = {
        "episode_id": episode.episode_id,
        "source": episode.source,
        "type": episode.episode_type,
        "occurred_at": episode.occurred_at,
        "recorded_at": episode.recorded_at,
        "about": list(episode.about),
        "tags": list(episode.tags),
    }
    optional = {
        "document": episode.document,
        "author": episode.author,
        "acl": None if episode.acl is None else list(episode.acl),
    }
    return values | {name: value for name, value in optional.items() if value is not None}


GET_EPISODE: Final = Tool(
    name="get_episode",
    title="Open an episode",
    description=(
        "Read a source in full, or a part of it, as numbered units (turns, messages, paragraphs "
        "or fields). Use it to check and quote what search_memory cites: its answers end with the "
        "episode ids."
    ),
    action=Action.READ,
    read_only=True,
    destructive=False,
    idempotent=True,
    arguments=(
        Argument(
            "episode_id",
            Kind.TEXT,
            "The id as an answer named it: 64 hex digits.",
            required=True,
        ),
        Argument("units", Kind.TEXT, 'Which units, like "3-7" or "5". Default: from the first.'),
        Argument(
            "max_chars",
            Kind.WHOLE,
            f"How long the answer may be, {MIN_CHARS} to {MAX_CHARS}. Default: {DEFAULT_CHARS}.",
            low=MIN_CHARS,
            high=MAX_CHARS,
        ),
    ),
    output={
        "episode": closed(
            "What is known of the episode.",
            {
                "episode_id": text("Its id."),
                "source": text("Where it comes from."),
                "type": text("Its episode type."),
                "occurred_at": moment("When it happened."),
                "recorded_at": moment("When it was stored."),
                "about": texts("Ids of entities it is about."),
                "tags": texts("Its labels."),
                "document": text("The document it is a version of."),
                "author": text("Who stored it."),
                "acl": texts("Who may read it; shown to those who may change that."),
            },
        ),
        "units": {
            "type": "array",
            "description": "Its units, in order.",
            "items": closed(
                "A unit.",
                {
                    "n": {"type": "integer", "description": "Its number."},
                    "label": text("What citations call it."),
                    "text": text("Verbatim."),
                },
            ),
        },
        "left_out": {"type": "integer", "description": "Units that did not fit."},
    },
    run=_run,
    later=frozenset({"document", "as_of"}),
)
