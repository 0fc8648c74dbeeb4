"""The memory app."""

from django.apps import AppConfig
from typing_extensions import override

from ampup_site.kernel.interpreter import tune_interpreter


class MemoryConfig(AppConfig):
    """What is remembered."""

    name = "memory"

    @override
    def ready(self) -> None:
        """Begin the process's work: everything it needs for good is loaded by now."""
        tune_interpreter()
