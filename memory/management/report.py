"""How memory's commands ask and answer: as the owner, text for people, JSON with `--json`."""

import re
import sys
from argparse import RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override

from accounts.domain.scope import Scope, parse_scope
from accounts.management.table import table_lines
from accounts.wiring import door
from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import AmpUpError, BadRequest
from memory.domain.progress import Progress, silent
from memory.domain.times import format_micros, parse_time

Options = dict[str, Any]

_UNSEEN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


class MemoryCommand(BaseCommand):
    """A command, or one of subcommands named in `verbs`; a refusal is one line and exit code 1."""

    verbs: ClassVar[Mapping[str, Callable[[Any, Options], None]]] = {}
    example: ClassVar[str]

    @override
    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Return the parser, whose help ends with an example."""
        return super().create_parser(
            prog_name,
            subcommand,
            epilog=f"example:\n  {self.example}",
            formatter_class=RawDescriptionHelpFormatter,
            **kwargs,
        )

    @override
    def handle(self, *_args: object, **options: Any) -> None:
        """Run it.

        Raises:
            CommandError: it was refused; the message is the refusal's.
        """
        try:
            _refuse_unstorable(options)
            self.run(options)
        except AmpUpError as error:
            place = f"{error.field}: " if error.field and error.field not in error.message else ""
            raise CommandError(visible(f"{place}{error.message}")) from error

    def run(self, options: Options) -> None:
        """Run the subcommand that was named."""
        self.verbs[options["verb"]](self, options)

    def say(self, text: str) -> None:
        """Write text for people, with nothing in it that would steer their terminal."""
        self.stdout.write(visible(text))

    def say_json(self, answer: object) -> None:
        """Write one JSON value on one line, the text in it as it is stored."""
        self.stdout.write(orjson.dumps(answer).decode())

    def progress(self, what: str) -> Progress:
        """Return what shows how far a long work is, where a person watches."""
        if not sys.stderr.isatty():
            return silent

        def show(done: int, total: int) -> None:
            end = "\n" if done >= total else ""
            self.stderr.write(f"\r{what}: {done} of {total}", ending=end)

        return show


def add_json(*parsers: CommandParser) -> None:
    """Add `--json`."""
    for parser in parsers:
        parser.add_argument("--json", action="store_true", help="answer in JSON")


def add_scope(*parsers: CommandParser) -> None:
    """Add `--scope`."""
    for parser in parsers:
        parser.add_argument(
            "--scope",
            default="org",
            metavar="S",
            help="org, org:ORG, team:TEAM, team:ORG/TEAM or user:ID; the default org without",
        )


def scope_from(options: Options) -> Scope:
    """Return the scope that `--scope` spells."""
    return parse_scope(options["scope"], default_org=door().default_org)


def moment_from(text: str | None, *, field: str) -> Micros | None:
    """Return a time given as RFC 3339, None for none.

    A bare number is refused as it is in JSON's texts: 20260726 is somebody's day.
    """
    return None if text is None else parse_time(text, field=field)


def readable(moment: int | None) -> str:
    """Return a moment as people read it."""
    return "-" if moment is None else format_micros(moment)


def visible(text: str) -> str:
    """Return text whose control and direction characters are written out."""
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def table(rows: Sequence[Sequence[object]], *, columns: Sequence[str]) -> str:
    """Return `table_lines` as one text."""
    return "\n".join(table_lines(rows, columns=columns))


def _refuse_unstorable(options: Options) -> None:
    """Refuse what no store keeps; bytes that are no UTF-8 arrive as half surrogate pairs."""
    for name, value in options.items():
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str) and _UNSTORABLE.search(text):
                message = f"`{name}` must be text in UTF-8, without U+0000."
                raise BadRequest(message, field=name)
