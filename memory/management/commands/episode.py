"""`episode get|list|forget|acl`: one source record, or a page of them."""

from typing import ClassVar

from django.core.management.base import CommandParser
from typing_extensions import override

from accounts.domain.caller import local_caller
from memory.api import answers
from memory.domain.episode_views import EpisodeView
from memory.domain.units import parse_units
from memory.management.report import (
    MemoryCommand,
    Options,
    add_json,
    add_scope,
    moment_from,
    readable,
    scope_from,
    table,
)
from memory.search.episodes import EpisodeFilters
from memory.services import episodes
from memory.wiring import engine


class Command(MemoryCommand):
    """Read, list and forget episodes, and change who may read one."""

    help = "read, list, forget episodes or amend their ACL, such as: episode get ID"
    example: ClassVar = "ampup-memory episode acl ID --expected '*' --set group:sales"

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        """Add the subcommands."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        get = verbs.add_parser("get", help="show one with its numbered units")
        get.add_argument("--units", metavar="3-7", help="these alone")
        listing = verbs.add_parser("list", help="list them by time")
        _add_filters(listing)
        forget = verbs.add_parser("forget", help="make one gone from every later read")
        acl = verbs.add_parser("acl", help="change who may read one, by compare-and-set")
        for name in ("--set", "--expected"):
            acl.add_argument(name, action="append", required=True, metavar="ENTRY")
        for verb in (get, forget, acl):
            verb.add_argument("id", help="the 64 hex digits an answer named")
        for verb in (forget, acl):
            verb.add_argument("--reason", help="kept in the ledger")
        add_scope(get, listing, forget, acl)
        add_json(get, listing, forget, acl)

    def get(self, options: Options) -> None:
        """Show one."""
        units = None if options["units"] is None else parse_units(options["units"])
        view = episodes.get_episode(
            engine(), local_caller(), scope_from(options), options["id"], units=units
        )
        if options["json"]:
            self.say_json(answers.episode(view))
        else:
            self.say(_shown(view))

    def list_some(self, options: Options) -> None:
        """List a page."""
        filters = EpisodeFilters(
            episode_type=options["type"],
            source_prefix=options["source"],
            tags=tuple(options["tag"]),
            about=options["about"],
            occurred_from=moment_from(options["start"], field="from"),
            occurred_to=moment_from(options["end"], field="to"),
            newest_first=options["order"] == "newest",
        )
        page = episodes.list_episodes(
            engine(),
            local_caller(),
            scope_from(options),
            filters,
            k=options["k"],
            cursor=options["cursor"],
        )
        if options["json"]:
            self.say_json(answers.episodes_found(page))
            return
        rows = [
            (row.episode_id, row.episode_type, readable(row.occurred_at), row.source, row.title)
            for row in page.episodes
        ]
        self.say(table(rows, columns=("id", "type", "occurred", "source", "title")))
        if page.next_cursor is not None:
            self.say(f"more: --cursor={page.next_cursor}")

    def forget(self, options: Options) -> None:
        """Forget one."""
        gone = episodes.forget(
            engine(),
            local_caller(),
            scope_from(options),
            options["id"],
            reason=options["reason"],
        ).wait()
        if options["json"]:
            self.say_json(answers.forgotten(gone))
        else:
            self.say(f"forgotten by {gone.commit}")

    def amend(self, options: Options) -> None:
        """Change who may read one."""
        amended = episodes.amend_acl(
            engine(),
            local_caller(),
            scope_from(options),
            options["id"],
            acl=options["set"],
            expected=options["expected"],
            reason=options["reason"],
        ).wait()
        if options["json"]:
            self.say_json(answers.amended(amended))
        else:
            self.say(f"may be read by {', '.join(amended.acl)} since {amended.commit}")

    verbs: ClassVar = {"get": get, "list": list_some, "forget": forget, "acl": amend}


def _add_filters(parser: CommandParser) -> None:
    parser.add_argument("--type", metavar="TYPE")
    parser.add_argument("--source", metavar="PREFIX", help="whose source begins so")
    parser.add_argument("--tag", action="append", default=[])
    parser.add_argument("--about", metavar="ENTITY")
    parser.add_argument("--from", dest="start", metavar="TIME", help="occurred then or later")
    parser.add_argument("--to", dest="end", metavar="TIME", help="occurred before")
    parser.add_argument("--order", choices=("newest", "oldest"), default="newest")
    parser.add_argument("-k", type=int, default=20, help="how many, 1 to 200")
    parser.add_argument("--cursor", help="where the page before ended")


def _shown(view: EpisodeView) -> str:
    head = (
        ("id", view.episode_id),
        ("source", view.source),
        ("type", view.episode_type),
        ("occurred", readable(view.occurred_at)),
        ("recorded", readable(view.recorded_at)),
        ("author", view.author),
        ("about", ", ".join(view.about)),
        ("tags", ", ".join(view.tags)),
        ("document", view.document),
        ("acl", ", ".join(view.acl or ())),
        ("meta", view.meta),
    )
    lines = [f"{name}: {value}" for name, value in head if value]
    units = [f"[{unit.label}] {unit.text.rstrip()}" for unit in view.units]
    return "\n".join([*lines, "", *units])
