"""`ledger verify|log|head`: the chain of commits."""

from dataclasses import asdict
from typing import ClassVar

from django.core.management.base import CommandError, CommandParser
from typing_extensions import override

from accounts.domain.caller import local_caller
from memory.management.report import (
    MemoryCommand,
    Options,
    add_json,
    add_scope,
    readable,
    scope_from,
    table,
)
from memory.services import ledger
from memory.wiring import engine


class Command(MemoryCommand):
    """Prove the ledger from its files, list commits, print the anchor to keep elsewhere."""

    help = "prove and read the chain of commits, such as: ledger verify"
    example: ClassVar = "ampup-memory ledger log --scope org:acme --limit 5"

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        """Add the subcommands."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        verify = verbs.add_parser("verify", help="prove it from the files; exit code 1 if it fails")
        log = verbs.add_parser("log", help="the newest commits of a scope")
        log.add_argument("--limit", type=int, default=20, help="how many, 1 to 200")
        add_scope(log)
        head = verbs.add_parser("head", help="where it ends: an anchor to keep elsewhere")
        add_json(verify, log, head)

    def verify(self, options: Options) -> None:
        """Prove it.

        Raises:
            CommandError: the proof failed.
        """
        report = ledger.verify(engine(), progress=self.progress("proved"))
        if options["json"]:
            self.say_json({**asdict(report), "sound": not report.faults})
        else:
            self.say(f"{report.commits} commits and their {report.rows} rows read from the files")
            for fault in report.faults:
                self.say(f"fault: {fault}")
        if report.faults:
            message = f"the ledger does not hold: {len(report.faults)} faults; restore a backup."
            raise CommandError(message)
        if not options["json"]:
            self.say(f"sound up to seq {report.head.seq}, {report.head.chain_hash}")

    def log(self, options: Options) -> None:
        """List commits."""
        found = ledger.log(engine(), local_caller(), scope_from(options), limit=options["limit"])
        if options["json"]:
            rows = [asdict(commit) for commit in found.commits]
            self.say_json({"results": rows, "next_cursor": None})
            return
        lines = [
            (
                commit.seq,
                commit.commit_id,
                commit.kind,
                commit.author,
                readable(commit.committed_at),
                commit.episode_count,
                commit.message,
            )
            for commit in found.commits
        ]
        columns = ("seq", "commit", "kind", "author", "committed", "episodes", "message")
        self.say(table(lines, columns=columns))

    def head(self, options: Options) -> None:
        """Print the anchor."""
        anchor = ledger.head(engine())
        if options["json"]:
            self.say_json(asdict(anchor))
        else:
            self.say(f"{anchor.seq} {anchor.chain_hash} {readable(anchor.committed_at)}")

    verbs: ClassVar = {"verify": verify, "log": log, "head": head}
