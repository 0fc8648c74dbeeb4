"""`serve`: web, MCP, worker and beat in one process."""

from contextlib import ExitStack
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override

from ampup_site.postgres.local import attached
from ampup_site.serving import LOOPBACK, Address, listen, only_server_of, run_web, watched


class Command(BaseCommand):
    """Serve until a signal."""

    help = "serve REST and MCP with the background timers, such as: serve --local --port 8080"

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        """Add where to listen and for whom."""
        parser.add_argument(
            "--local", action="store_true", help="loopback only, no key: for its owner alone"
        )
        parser.add_argument("--host", default="127.0.0.1", help="address to listen at")
        parser.add_argument("--port", type=int, default=8080, help="0 takes a free one")
        parser.add_argument(
            "--no-timers", action="store_true", help="run no timer; asked-for jobs still run"
        )

    @override
    def handle(self, *_args: object, **options: Any) -> None:
        """Serve.

        Raises:
            CommandError: `--local` with an address that others can reach.
        """
        if options["local"]:
            _only_its_owner(options["host"])
        with ExitStack() as stack:
            note = None
            embedded = attached(settings.AMPUP_DATA_DIR)
            if embedded is not None:
                note = stack.enter_context(only_server_of(settings.AMPUP_DATA_DIR))
                stack.enter_context(watched(embedded.ensure_running))
            listening, address = listen(Address(options["host"], options["port"]))
            stack.callback(listening.close)
            if note is not None:
                note(address.url)
            self._serve(stack, listening, address, timers=not options["no_timers"])

    def _serve(self, stack: ExitStack, listening: Any, address: Address, *, timers: bool) -> None:
        from ampup_site.asgi import application
        from ampup_site.background import start_background

        if settings.CELERY_BROKER_URL.startswith("memory:"):
            stack.callback(start_background(worker=True, beat_too=timers).stop)

        def ready() -> None:
            who = " for its owner alone" if settings.AMPUP_LOCAL else ""
            self.stdout.write(
                f"AmpUp Memory serves at {address.url}{who}; MCP at {address.url}/mcp"
            )
            self.stdout.flush()

        run_web(application, listening, ready=ready)
        self.stdout.write("stopped")


def _only_its_owner(host: str) -> None:
    if host not in LOOPBACK:
        message = f"--local listens on loopback only, not at {host}; make a key and leave it out."
        raise CommandError(message)
    settings.AMPUP_LOCAL = True
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]"]
