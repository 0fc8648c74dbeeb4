"""`index status|verify|rebuild`: the derived index."""

from dataclasses import asdict
from typing import ClassVar

from django.core.management.base import CommandError, CommandParser
from typing_extensions import override

from accounts.domain.caller import local_caller
from memory.api import answers
from memory.management.report import MemoryCommand, Options, add_json, add_scope, scope_from
from memory.services import indexing
from memory.wiring import engine


class Command(MemoryCommand):
    """Say where the index stands, compare it with the tables, build it anew."""

    help = "look after the derived index, such as: index verify"
    example: ClassVar = "ampup-memory index rebuild"

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        """Add the subcommands."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        status = verbs.add_parser("status", help="where it stands")
        add_scope(status)
        verify = verbs.add_parser("verify", help="compare it with the tables; exit code 1 if not")
        which = verify.add_mutually_exclusive_group()
        which.add_argument("--full", action="store_true", help="everything, which is the default")
        which.add_argument("--since", type=int, default=0, metavar="SEQ", help="later commits")
        rebuild = verbs.add_parser("rebuild", help="build it anew beside, then flip")
        add_json(status, verify, rebuild)

    def status(self, options: Options) -> None:
        """Say where it stands."""
        status = indexing.status(engine(), local_caller(), scope_from(options))
        answer = answers.index_status(status)
        if options["json"]:
            self.say_json(answer)
        else:
            self.say("\n".join(f"{name}: {value}" for name, value in answer.items()))

    def verify(self, options: Options) -> None:
        """Compare it with the tables.

        Raises:
            CommandError: something differs.
        """
        report = indexing.verify(
            engine(), since=options["since"], progress=self.progress("compared")
        )
        if options["json"]:
            self.say_json({**asdict(report), "clean": report.clean})
        else:
            self.say(
                f"generation {report.generation}: {report.commits} commits,"
                f" {report.episodes} episodes, {report.passages} passages compared"
            )
            for difference in report.differences:
                self.say(f"{difference.kind}: {difference.where}")
        if not report.clean:
            found = ", ".join(f"{count} {kind}" for kind, count in report.counts.items())
            message = f"the index differs from the tables: {found}; `index rebuild` mends it."
            raise CommandError(message)

    def rebuild(self, options: Options) -> None:
        """Build it anew."""
        report = indexing.rebuild(engine(), progress=self.progress("rebuilt"))
        if options["json"]:
            self.say_json(asdict(report))
        else:
            self.say(
                f"generation {report.generation} is live: {report.commits} commits"
                f" in {report.seconds:.1f} s"
            )

    verbs: ClassVar = {"status": status, "verify": verify, "rebuild": rebuild}
