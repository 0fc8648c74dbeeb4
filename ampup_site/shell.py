"""The command line: `ampup-memory <command>` is `manage.py <command>`.

A command that needs a database gets one (the named Postgres, or the embedded one for as long as
the command runs) with its schema up to date; what can be expected to fail ends in one line.
"""

import logging
import os
import sys
from collections.abc import Sequence
from typing import Any, Final

from ampup_site.kernel.errors import AmpUpError

logger = logging.getLogger(__name__)

_OUR_APPS: Final = ("ampup_site", "accounts", "memory")
_WITH_DATABASE: Final = frozenset(
    {"migrate", "showmigrations", "shell", "dbshell", "createsuperuser", "dumpdata", "loaddata"}
)
_DJANGOS_OWN: Final = {
    *("--version", "--verbosity", "--settings", "--pythonpath", "--traceback"),
    *("--no-color", "--force-color"),
}
"""Options that every command has from Django and that our help leaves out."""

_INTERRUPTED: Final = 130


def main() -> int:
    """Run the command that the process was started with; return its exit code."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ampup_site.settings.base")
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        return run(sys.argv[1:])
    except AmpUpError as error:
        sys.stderr.write(f"error: {error.message}\n")
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:  # the reader of our output left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def run(words: Sequence[str]) -> int:
    """Run one command and return its exit code.

    Raises:
        AmpUpError: it was refused, or there is no database.
    """
    import django
    import psycopg
    from django.core.management import CommandError, get_commands, load_command_class
    from django.db import Error

    django.setup()
    if not words or words[0] in {"help", "-h", "--help"}:
        sys.stdout.write(overview())
        return 0
    name = words[0]
    app = get_commands().get(name)
    if app is None:
        sys.stderr.write(f"error: there is no command {name!r}; `ampup-memory --help` lists them\n")
        return 2
    command: Any = load_command_class(app, name)
    command._called_from_command_line = True  # wrong words then end in usage, exit code 2
    ours = app in _OUR_APPS
    if ours:
        command.suppressed_base_arguments = _DJANGOS_OWN
        command.requires_system_checks = []  # they import all edges; `make check` runs them
    parser = command.create_parser("ampup-memory", name)
    options = vars(parser.parse_args(list(words[1:])))
    try:
        _execute(command, options, database=ours or name in _WITH_DATABASE, migrated=ours)
    except CommandError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.returncode
    except (Error, psycopg.Error) as error:
        return _failed(error, "the database refused: " + " ".join(str(error).split()))
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        return _failed(error, f"{error.strerror or type(error).__name__}{where}")
    return 0


def _failed(error: Exception, said: str) -> int:
    """Say in a line what failed; the traceback is for who logs at level DEBUG."""
    logger.debug("the command failed", exc_info=error)
    sys.stderr.write(f"error: {said}\n")
    return 1


def overview() -> str:
    """Return the list of our commands, one line each."""
    from django.core.management import get_commands, load_command_class

    found = {name: app for name, app in get_commands().items() if app in _OUR_APPS}
    width = max((len(name) for name in found), default=0)
    lines = [
        f"  {name.ljust(width)}  {load_command_class(app, name).help}"
        for name, app in sorted(found.items())
    ]
    head = "AmpUp Memory: long-term memory for AI agents.\n\nusage: ampup-memory COMMAND [...]\n\n"
    tail = "\n\n`ampup-memory COMMAND --help` says more; manage.py knows Django's commands too.\n"
    return head + "\n".join(lines) + tail


def _execute(command: Any, options: dict[str, Any], *, database: bool, migrated: bool) -> None:
    from ampup_site.database import database_for_process

    words = options.pop("args", ())
    if not database:
        command.execute(*words, **options)
        return
    with database_for_process(migrated=migrated):
        command.execute(*words, **options)


if __name__ == "__main__":
    sys.exit(main())
