"""How this app's commands answer: a plain table for people, JSON with `--json`."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override

from accounts.management.table import table_lines
from ampup_site.kernel.errors import AmpUpError

Row = Mapping[str, object]


class AccountsCommand(BaseCommand):
    """A command of subcommands, each a method named in `verbs`; refusals are one line."""

    verbs: ClassVar[Mapping[str, Callable[[Any, dict[str, Any]], None]]]

    @override
    def handle(self, *_args: object, **options: Any) -> None:
        """Run the subcommand.

        Raises:
            CommandError: it was refused; the message is the refusal's.
        """
        try:
            self.verbs[options["verb"]](self, options)
        except AmpUpError as error:
            raise CommandError(error.message) from error

    def show(self, answer: Row | Sequence[Row], *, as_json: bool, columns: Sequence[str]) -> None:
        """Write one row or many."""
        if as_json:
            self.stdout.write(json.dumps(answer, ensure_ascii=False, default=list))
            return
        rows = [answer] if isinstance(answer, Mapping) else list(answer)
        cells = [[row[column] for column in columns] for row in rows]
        for line in table_lines(cells, columns=columns):
            self.stdout.write(line)


def add_json(parser: CommandParser) -> None:
    """Add `--json` to a subcommand."""
    parser.add_argument("--json", action="store_true", help="answer in JSON")
