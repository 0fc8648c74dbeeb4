"""`worker`: a Celery worker and beat without the web, for servers with a broker."""

import signal
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override


class Command(BaseCommand):
    """Run background work until a signal."""

    help = "run background work beside serve, over CELERY_BROKER_URL, such as: worker --no-timers"

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        """Add what it leaves to others."""
        parser.add_argument("--no-timers", action="store_true", help="another worker has them")

    @override
    def handle(self, *_args: object, **options: Any) -> None:
        """Work.

        Raises:
            CommandError: there is no broker, so serve does the work itself.
        """
        from ampup_site.background import start_background

        if settings.CELERY_BROKER_URL.startswith("memory:"):
            message = "Set CELERY_BROKER_URL to a broker, such as redis://127.0.0.1:6379/0."
            raise CommandError(message)
        ended = threading.Event()
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, lambda *_: ended.set())
        background = start_background(worker=True, beat_too=not options["no_timers"])
        self.stdout.write("worker is up")
        self.stdout.flush()
        while not ended.wait(1):
            pass
        background.stop()
        self.stdout.write("stopped")
