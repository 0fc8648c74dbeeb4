"""`search QUERY`: what the memory says about it, with citations."""

from typing import ClassVar

from django.core.management.base import CommandParser
from typing_extensions import override

from accounts.domain.caller import local_caller
from ampup_site.kernel.errors import BadRequest
from memory.api import answers
from memory.domain.limits import DEFAULT_CHARS, MAX_CHARS, MIN_CHARS
from memory.management.report import (
    MemoryCommand,
    Options,
    add_json,
    add_scope,
    moment_from,
    scope_from,
)
from memory.search.episodes import EpisodeFilters
from memory.services.search import PassageQuery, asked_window, find_passages
from memory.wiring import engine


class Command(MemoryCommand):
    """Find passages by keyword and print them cited, as agents read them."""

    help = "find what is known, such as: search 'who owns the renewal'"
    example: ClassVar = "ampup-memory search 'who owns the renewal' -k 5 --tag deal"

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        """Add what can be asked for."""
        parser.add_argument("query", help="plain words; every one is optional")
        parser.add_argument("-k", type=int, default=10, help="passages at most, 1 to 200")
        parser.add_argument("--about", metavar="ENTITY")
        parser.add_argument("--type", metavar="TYPE", help="of this episode type")
        parser.add_argument("--source", metavar="PREFIX", help="whose source begins so")
        parser.add_argument("--tag", action="append", default=[])
        parser.add_argument("--from", dest="start", metavar="TIME", help="occurred then or later")
        parser.add_argument("--to", dest="end", metavar="TIME", help="occurred before")
        parser.add_argument(
            "--order", choices=("relevance", "newest", "oldest"), default="relevance"
        )
        parser.add_argument("--explain", action="store_true", help="how scores came about (--json)")
        parser.add_argument("--max-chars", type=int, default=DEFAULT_CHARS)
        add_scope(parser)
        add_json(parser)

    @override
    def run(self, options: Options) -> None:
        """Print what was found."""
        max_chars = options["max_chars"]
        if not MIN_CHARS <= max_chars <= MAX_CHARS:
            message = f"`max_chars` must be from {MIN_CHARS} to {MAX_CHARS}."
            raise BadRequest(message, field="max_chars")
        query = PassageQuery(
            text=options["query"],
            k=options["k"],
            order=options["order"],
            filters=EpisodeFilters(
                episode_type=options["type"],
                source_prefix=options["source"],
                tags=tuple(options["tag"]),
                about=options["about"],
                occurred_from=moment_from(options["start"], field="from"),
                occurred_to=moment_from(options["end"], field="to"),
            ),
            explain=options["explain"],
        )
        caller = local_caller()
        hits = find_passages(engine(), caller, scope_from(options), query)
        if options["json"]:
            window = asked_window(engine(), caller, query.text)
            self.say_json(answers.searched(query.text, hits, window))
        else:
            self.say(answers.searched_text(hits, max_chars=max_chars))
