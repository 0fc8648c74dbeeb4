"""`episode-type list|show`: which sources are of which type."""  # noqa: N999 -- a command's name

from typing import ClassVar

from django.core.management.base import CommandParser
from typing_extensions import override

from memory.api import answers
from memory.management.report import MemoryCommand, Options, add_json, table
from memory.wiring import engine


class Command(MemoryCommand):
    """Show the types of episodes."""

    help = "show which sources are of which type, such as: episode-type show sales_call"
    example: ClassVar = "ampup-memory episode-type show sales_call"

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        """Add the subcommands."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        listing = verbs.add_parser("list", help="all types with the prefixes they claim")
        show = verbs.add_parser("show", help="one type")
        show.add_argument("type")
        add_json(listing, show)

    def list_all(self, options: Options) -> None:
        """List them."""
        kinds = engine().types.by_name
        if options["json"]:
            self.say_json(answers.episode_types(kinds))
            return
        rows = [(kind.name, kind.unit.value, kind.sources) for kind in kinds.values()]
        self.say(table(rows, columns=("type", "unit", "sources")))

    def show(self, options: Options) -> None:
        """Show one."""
        shown = answers.episode_type(engine().types.named(options["type"]))
        if options["json"]:
            self.say_json(shown)
            return
        for name, value in shown.items():
            text = ", ".join(map(str, value)) if isinstance(value, list) else value
            self.say(f"{name}: {text}")

    verbs: ClassVar = {"list": list_all, "show": show}
