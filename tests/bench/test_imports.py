"""The benches choose their database before Django is set up."""

import os
import subprocess
import sys

from tests.ampup_site.processes import CHECKOUT


def test_a_bench_is_imported_before_any_setting_is_read() -> None:
    """Regression: an import of the engine's wiring wanted Django's models, and none could run."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("DJANGO_")}
    words = (sys.executable, "-c", "import bench.engines, bench.running")
    ran = subprocess.run(
        words, cwd=CHECKOUT, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stderr
