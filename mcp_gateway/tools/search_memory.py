"""search_memory: finds passages of the sources for a question, with citations."""

from collections.abc import Sequence
from typing import Any, Final, cast

import orjson

from accounts.domain.roles import Action
from mcp_gateway.bridge import served
from mcp_gateway.tools.arguments import Argument, Arguments, Kind
from mcp_gateway.tools.tool import Tool, ToolAnswer, ToolCall, closed, moment, text
from memory.api import answers
from memory.domain.limits import DEFAULT_CHARS, MAX_CHARS, MAX_K, MIN_CHARS
from memory.search.episodes import EpisodeFilters
from memory.services.search import Order, PassageHit, PassageQuery, find_passages

_DEFAULT_K: Final = 10


async def _run(call: ToolCall) -> ToolAnswer:
    arguments = call.arguments
    query = _query(arguments)
    hits = await served(find_passages, call.caller, call.scope, query)
    max_chars = cast("int | None", arguments.get("max_chars"))
    if arguments.get("format") == "json":
        return _json_answer(query.text, hits, max_chars=max_chars)
    return ToolAnswer(
        text=answers.searched_text(hits, max_chars=max_chars or DEFAULT_CHARS),
        values=_values(query.text, hits),
    )


def _json_answer(query: str, hits: Sequence[PassageHit], *, max_chars: int | None) -> ToolAnswer:
    """Return the values as the text too, with as many passages as `max_chars` lets in."""
    for kept in range(len(hits), -1, -1):
        values = _values(query, hits[:kept])
        text_ = orjson.dumps(values).decode()
        if max_chars is None or len(text_) <= max_chars:
            break
    else:
        values, text_ = _values(query, ()), "{}"
    return ToolAnswer(text=text_, values=values)


def _query(arguments: Arguments) -> PassageQuery:
    return PassageQuery(
        text=cast("str", arguments["query"]),
        k=cast("int", arguments.get("k", _DEFAULT_K)),
        order=cast("Order", arguments.get("order", "relevance")),
        filters=EpisodeFilters(
            episode_type=cast("str | None", arguments.get("episode_type")),
            tags=cast("tuple[str, ...]", arguments.get("tags", ())),
            about=cast("str | None", arguments.get("about")),
        ),
        explain=cast("bool", arguments.get("explain", False)),
    )


def _values(query: str, hits: Sequence[PassageHit]) -> dict[str, Any]:
    """Return the JSON form; times are microseconds.  Source: specification, section 9."""
    passages = [answers.passage(hit) for hit in hits]
    return {"query": query, "passages": passages, "episodes": answers.cited(hits)}


SEARCH_MEMORY: Final = Tool(
    name="search_memory",
    title="Search memory",
    description=(
        "Search everything this memory holds and you may read: meetings, chats, mails, records, "
        "documents and notes. Ask in plain words or give names and identifiers; every word is "
        "optional. The answer quotes passages, each cited like [e1 t3] (episode 1, turn 3), and "
        "ends with the episode ids that get_episode opens."
    ),
    action=Action.READ,
    read_only=True,
    destructive=False,
    idempotent=True,
    arguments=(
        Argument("query", Kind.TEXT, "What you want to know, in plain words.", required=True),
        Argument(
            "k",
            Kind.WHOLE,
            f"How many passages at most, 1 to {MAX_K}. Default: {_DEFAULT_K}.",
            low=1,
            high=MAX_K,
        ),
        Argument(
            "about", Kind.TEXT, "Only what is about this entity, by its id, like account:acme."
        ),
        Argument(
            "format",
            Kind.TEXT,
            "text for reading, json for the same as values. Default: text.",
            choices=("text", "json"),
            listed=False,
        ),
        Argument("episode_type", Kind.TEXT, "Only episodes of this type, like doc.", listed=False),
        Argument("tags", Kind.TEXTS, "Only episodes with all of these labels.", listed=False),
        Argument(
            "order",
            Kind.TEXT,
            "By relevance, or by when it happened. Default: relevance.",
            choices=("relevance", "newest", "oldest"),
            listed=False,
        ),
        Argument(
            "explain",
            Kind.FLAG,
            "Say in the values how each score came about. Default: false.",
            listed=False,
        ),
        Argument(
            "max_chars",
            Kind.WHOLE,
            f"How long the text may be, {MIN_CHARS} to {MAX_CHARS}. Default: {DEFAULT_CHARS}.",
            low=MIN_CHARS,
            high=MAX_CHARS,
            listed=False,
        ),
    ),
    output={
        "query": text("What was asked."),
        "passages": {
            "type": "array",
            "description": "What matches best, best first.",
            "items": closed(
                "A passage.",
                {
                    "episode_id": text("The episode it is of."),
                    "source": text("Where it comes from."),
                    "type": text("Its episode type."),
                    "document": text("The document it is of, if it is of one."),
                    "occurred_at": moment("When it happened."),
                    "units": {
                        "type": "array",
                        "description": "Its first and last unit.",
                        "items": {"type": "integer"},
                    },
                    "label": text("Its units as citations name them."),
                    "text": text("Verbatim."),
                    "score": {"type": "number", "description": "0 to 1."},
                    "explain": closed(
                        "With `explain`: how the score came about.",
                        {
                            "keyword": {"type": "number", "description": "0 to 1, of the best."},
                            "meaning": {
                                "type": "number",
                                "description": "0 to 1, of the nearest; left out without a vote.",
                            },
                            "fields": text("Which hold words of the query: body, names."),
                        },
                    ),
                },
            ),
        },
        "episodes": {
            "type": "array",
            "description": "The episodes of the passages.",
            "items": closed(
                "An episode.",
                {
                    "n": {"type": "integer", "description": "Its number in the citations."},
                    "episode_id": text("The id get_episode reads."),
                    "source": text("Where it comes from."),
                    "type": text("Its episode type."),
                    "occurred_at": moment("When it happened."),
                },
            ),
        },
    },
    run=_run,
    later=frozenset({"as_of", "predicates"}),
)
