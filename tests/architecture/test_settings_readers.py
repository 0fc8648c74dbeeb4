"""Settings are read where a process is put together, and nowhere else."""

import ast
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("ampup_site", "accounts", "memory", "mcp_gateway")
READERS = {
    "accounts/migrations/0001_initial.py",  # as Django writes it
    "accounts/wiring.py",
    "ampup_site/celery.py",
    "ampup_site/database.py",
    "ampup_site/management/commands/serve.py",
    "ampup_site/management/commands/worker.py",
    "mcp_gateway/wiring.py",
    "memory/wiring.py",
}


def test_only_what_puts_a_process_together_reads_settings() -> None:
    """Regression: edges read them by themselves, so a value had three owners."""
    found = set()
    for package in PACKAGES:
        for path in (CHECKOUT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and node.module == "django.conf":
                    found.add(str(path.relative_to(CHECKOUT)))
    assert found == READERS
