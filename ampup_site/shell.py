"""The command line: `ampup-memory <command>` is `manage.py <command>`."""

import os
import sys


def main() -> int:
    """Run the command that the process was started with; return its exit code."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ampup_site.settings.base")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
    return 0
