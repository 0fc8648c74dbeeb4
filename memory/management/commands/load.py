"""`load PATH`: store a file's or a folder's episodes, in chunks that may be stopped and resumed."""

import sys
from pathlib import Path
from typing import ClassVar

from django.core.management.base import CommandError, CommandParser
from typing_extensions import override

from accounts.domain.caller import local_caller
from memory.domain.acl import parse_acl
from memory.domain.ids import BODY, SOURCE_AND_BODY
from memory.management.load_files import Defaults, find_files, read_files
from memory.management.load_progress import gauge
from memory.management.report import MemoryCommand, Options, add_json, add_scope, scope_from
from memory.services.load_landing import LoadReport
from memory.services.loads import load_items
from memory.wiring import engine

_SHOWN = 20


class Command(MemoryCommand):
    """Load episodes; a second run adds what is missing and repeats nothing."""

    help = "load a .jsonl, a transcript or a folder of texts, such as: load samples/meetings"
    example: ClassVar = "ampup-memory load samples/meetings --scope team:sales --acl group:sales"

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        """Add the path and what items get where their file leaves it open."""
        parser.add_argument("path", help="a .jsonl, .txt or .md file, or a folder of them")
        parser.add_argument("--type", metavar="TYPE", help="their episode type, else by source")
        parser.add_argument(
            "--acl", action="append", metavar="ENTRY", help="who may read them; * without"
        )
        parser.add_argument(
            "--id-of",
            choices=(SOURCE_AND_BODY, BODY),
            default=SOURCE_AND_BODY,
            help="what makes two items the same episode",
        )
        parser.add_argument(
            "--atomic", action="store_true", help="one commit or nothing, up to 5,000 episodes"
        )
        add_scope(parser)
        add_json(parser)

    @override
    def run(self, options: Options) -> None:
        """Load, and say what was stored, repeated and refused."""
        try:
            report = self._load(options)
        except KeyboardInterrupt:
            message = "stopped; what has landed stays. Run the same command again to go on."
            raise CommandError(message, returncode=130) from None
        if options["json"]:
            self.say_json(_json(report))
        else:
            self._tell(report)
        if report.refused:
            message = f"{len(report.refused):,} refused; the rest is stored"
            raise CommandError(message, returncode=1)

    def _load(self, options: Options) -> LoadReport:
        held, scope = engine(), scope_from(options)
        acl, kind = options["acl"], options["type"]
        defaults = Defaults(
            now=held.clock.now(),
            acl=None if acl is None else parse_acl(tuple(acl), field="acl"),
            episode_type=None if kind is None else held.types.named(kind).name,
        )
        files = find_files(Path(options["path"]).expanduser())
        with gauge(sys.stderr, total=sum(file.size for file in files)) as shown:
            return load_items(
                held,
                local_caller(),
                scope,
                read_files(files, defaults, read=shown.read),
                id_of=options["id_of"],
                atomic=options["atomic"],
                progress=lambda chunk: shown.landed(chunk.done),
            )

    def _tell(self, report: LoadReport) -> None:
        for item in report.refused[:_SHOWN]:
            position = item.position.replace("\n", "\\n")  # a file name may hold one
            self.say(f"refused {position}  {item.reason}")
        if len(report.refused) > _SHOWN:
            self.say(f"… {len(report.refused) - _SHOWN:,} more refused; --json lists all")
        self.say(f"{report.created:,} stored, {report.repeated:,} already there")
        if report.acls_unchanged:
            self.say(f"{report.acls_unchanged:,} of those keep the ACL they have")


def _json(report: LoadReport) -> dict[str, object]:
    return {
        "job": report.job,
        "created": report.created,
        "repeated": report.repeated,
        "acls_unchanged": report.acls_unchanged,
        "refused": [{"position": item.position, "reason": item.reason} for item in report.refused],
        "commits": list(report.commits),
    }
