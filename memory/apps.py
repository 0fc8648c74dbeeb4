"""The memory app."""

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    """What is remembered."""

    name = "memory"
