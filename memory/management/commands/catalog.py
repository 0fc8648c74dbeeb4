"""`catalog recover`: the pointers to the tables' present versions."""

from dataclasses import asdict
from typing import ClassVar

from django.core.management.base import CommandError, CommandParser
from typing_extensions import override

from memory.management.report import MemoryCommand, Options, add_json
from memory.services import recovery
from memory.services.recovery import IndexFate, RecoveryReport
from memory.wiring import engine

_INDEX = {
    IndexFate.UNTOUCHED: "only asked: nothing was changed",
    IndexFate.CURRENT: "the index stands there already",
    IndexFate.CAUGHT_UP: "the index was brought there",
    IndexFate.REBUILT: "the index was built anew",
}


class Command(MemoryCommand):
    """Point a lost or older catalog at everything that has landed."""

    help = "look after the catalog of the tables, such as: catalog recover"
    example: ClassVar = "ampup-memory catalog recover --dry-run"

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        """Add the subcommand."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        recover = verbs.add_parser(
            "recover", help="after a loss or a restore of Postgres: find all that landed"
        )
        recover.add_argument("--dry-run", action="store_true", help="only tell what it would do")
        recover.add_argument(
            "--leave-unproved",
            action="store_true",
            help="leave out a last landing that nobody may have been told of",
        )
        add_json(recover)

    def recover(self, options: Options) -> None:
        """Recover it.

        Raises:
            CommandError: the ledger does not hold afterwards.
        """
        report = recovery.recover(
            engine(to_recover=True),
            dry_run=options["dry_run"],
            leave_unproved=options["leave_unproved"],
            progress=self.progress("recovered"),
        )
        if options["json"]:
            self.say_json(_answer(report))
        else:
            self.say("\n".join(_lines(report)))
        if report.ledger is not None and report.ledger.faults:
            count = len(report.ledger.faults)
            message = f"the ledger does not hold: {count} faults; restore the warehouse."
            raise CommandError(message)

    verbs: ClassVar = {"recover": recover}


def _answer(report: RecoveryReport) -> dict[str, object]:
    proof = None if report.ledger is None else asdict(report.ledger)
    return {**asdict(report.catalog), "index": report.index.value, "ledger": proof}


def _lines(report: RecoveryReport) -> list[str]:
    done = report.catalog
    lines = [
        f"the catalog stood at seq {done.from_seq}, what has landed at {done.to_seq}",
        f"{done.tables} tables: {done.moved} moved on, {done.made} named again,"
        f" {done.dropped} that are not there dropped",
    ]
    if done.unproved:
        lines.append(
            f"{done.unproved} commits at the end may never have been acknowledged;"
            " they count unless --leave-unproved is given"
        )
    lines += [f"left out: {reason}" for reason in done.left_out]
    lines.append(_INDEX[report.index])
    if report.ledger is not None:
        lines.append(f"{report.ledger.commits} commits and {report.ledger.rows} rows proved")
        lines += [f"fault: {fault}" for fault in report.ledger.faults]
    return lines
