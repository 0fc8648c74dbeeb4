"""remember_memory: an agent writes down what should be known later."""

from typing import Final, cast

from accounts.domain.roles import Action
from ampup_site.kernel.clock import Micros
from mcp_gateway.bridge import until_landed
from mcp_gateway.tools.arguments import Argument, Arguments, Kind
from mcp_gateway.tools.tool import Tool, ToolAnswer, ToolCall, text
from memory.services.episodes import remember
from memory.services.preparing import NoteDraft

_DEFAULT_SOURCE: Final = "note"


async def _run(call: ToolCall) -> ToolAnswer:
    note = _note(call.arguments)
    stored = await until_landed(remember, call.caller, call.scope, note)
    said = "Remembered" if stored.created else "Already remembered"
    return ToolAnswer(
        text=f"{said}: episode {stored.episode_id}, source {stored.source}",
        values={
            "episode_id": stored.episode_id,
            "source": stored.source,
            "created": stored.created,
            "acl_unchanged": stored.acl_unchanged,
            "commit": stored.commit,
        },
    )


def _note(arguments: Arguments) -> NoteDraft:
    given = dict(arguments)
    return NoteDraft(
        source=cast("str", given.get("source", _DEFAULT_SOURCE)),
        body=cast("str", given["text"]),
        about=cast("tuple[str, ...]", given.get("about", ())),
        tags=cast("tuple[str, ...]", given.get("tags", ())),
        visibility=cast("str | None", given.get("visibility")),
        occurred_at=cast("Micros | None", given.get("occurred_at")),
        document=cast("str | None", given.get("document")),
    )


REMEMBER_MEMORY: Final = Tool(
    name="remember_memory",
    title="Remember",
    description=(
        "Store a note in long-term memory, word for word, durable and searchable at once. Use it "
        "in the same turn in which a user states a preference, a correction, a decision or a "
        "procedure, or asks to remember something. Write one self-contained note a thing: who, "
        "what, when, why. Storing the same note again changes nothing."
    ),
    action=Action.REMEMBER,
    read_only=False,
    destructive=False,
    idempotent=True,
    arguments=(
        Argument("text", Kind.TEXT, "The note, kept verbatim.", required=True),
        Argument(
            "source",
            Kind.TEXT,
            "A short label of where the note comes from, like note or note:acme. Default: note.",
        ),
        Argument(
            "about",
            Kind.TEXTS,
            "Ids of the entities it is about, like account:acme or person:priya.",
        ),
        Argument("tags", Kind.TEXTS, "Labels of a-z, 0-9, _ and -, like decision or preference."),
        Argument(
            "occurred_at",
            Kind.TIME,
            "When it happened, as an RFC 3339 time with its offset, like 2026-03-01T09:30:00Z. "
            "Default: now.",
        ),
        Argument(
            "visibility",
            Kind.TEXT,
            "Who may read it: the team (all who use this memory) or me (the caller alone).",
            choices=("team", "me"),
        ),
        Argument(
            "document",
            Kind.TEXT,
            "The key of the document that this note is a version of, if it is one.",
        ),
    ),
    output={
        "episode_id": text("The id get_episode reads."),
        "source": text("The source it is stored under."),
        "created": {"type": "boolean", "description": "False if it was there already."},
        "acl_unchanged": {
            "type": "boolean",
            "description": "True if it was there with other readers, who stay.",
        },
        "commit": text("The commit that stored it."),
    },
    run=_run,
    renamed={"body": "text"},
)
