"""`remember SOURCE BODY`: keep a note."""

import sys
from typing import ClassVar

from django.core.management.base import CommandParser
from typing_extensions import override

from accounts.domain.caller import local_caller
from ampup_site.kernel.errors import BadRequest
from memory.api import answers
from memory.management.report import (
    MemoryCommand,
    Options,
    add_json,
    add_scope,
    moment_from,
    scope_from,
)
from memory.services.episodes import remember
from memory.services.preparing import NoteDraft
from memory.wiring import engine


class Command(MemoryCommand):
    """Keep a note; the same note again changes nothing."""

    help = "keep a note, such as: remember acme 'Priya owns the renewal.'"
    example: ClassVar = "ampup-memory remember acme 'Priya owns the renewal.' --tag deal"

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        """Add the note's fields."""
        parser.add_argument("source", help="where it comes from, in a word or two")
        parser.add_argument("body", nargs="?", default="-", help="the text; - or none reads stdin")
        parser.add_argument("--about", action="append", default=[], metavar="ENTITY")
        parser.add_argument("--tag", action="append", default=[])
        parser.add_argument("--acl", action="append", metavar="ENTRY", help="who may read it")
        parser.add_argument("--occurred-at", metavar="TIME", help="RFC 3339; now without")
        parser.add_argument("--document", metavar="KEY", help="the document it is a version of")
        add_scope(parser)
        add_json(parser)

    @override
    def run(self, options: Options) -> None:
        """Keep it and say under which id."""
        acl = options["acl"]
        note = NoteDraft(
            source=options["source"],
            body=_stdin() if options["body"] == "-" else options["body"],
            about=tuple(options["about"]),
            tags=tuple(options["tag"]),
            acl=None if acl is None else tuple(acl),
            occurred_at=moment_from(options["occurred_at"], field="occurred_at"),
            document=options["document"],
        )
        kept = remember(engine(), local_caller(), scope_from(options), note).wait()
        if options["json"]:
            self.say_json(answers.remembered(kept))
        else:
            self.say(f"{'kept' if kept.created else 'kept before'} {kept.episode_id}")


def _stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise BadRequest("`body` on stdin must be UTF-8.", field="body") from None
