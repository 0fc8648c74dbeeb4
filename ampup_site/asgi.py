"""The ASGI root: owns the lifespan and splits MCP from the rest; WebSockets are not served."""

# ruff: noqa: E402 -- Django has to be set up before what uses it is imported

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ampup_site.settings.base")

import django

django.setup()

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import psycopg
from django.core.handlers.asgi import ASGIHandler
from django.db import Error

from ampup_site.kernel.errors import AmpUpError
from ampup_site.middleware import Event, Receive, Send, Surrounded
from mcp_gateway.asgi import PATHS, build_mcp_app
from memory.wiring import close_engine, start_followers

logger = logging.getLogger(__name__)

_AGAIN_SECS: Final = 2.0


class Root:
    """The one application that a server runs."""

    def __init__(self) -> None:
        self._mcp = build_mcp_app()
        self._web = Surrounded(ASGIHandler())  # type: ignore[arg-type]  # its scope is a dict

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """Answer one request, or span the server's life."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] != "http":
            await receive()
            await send({"type": "websocket.close", "code": 1000})
        elif scope["path"] in PATHS:
            await self._mcp(scope, receive, send)
        else:
            await self._web(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            async with self._running():
                await send({"type": "lifespan.startup.complete"})
                await receive()
        except Exception as error:
            logger.exception("the server could not start or stop")
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.shutdown.complete"})

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        async with self._mcp.lifespan():
            ready = await asyncio.to_thread(_warm)
            warming = None if ready else asyncio.create_task(_warm_later())
            try:
                yield
            finally:
                if warming is not None:
                    warming.cancel()
                await asyncio.to_thread(close_engine)


def _warm() -> bool:
    """Build the engine before the first request; what is missing now may come back later."""
    try:
        start_followers()
    except (AmpUpError, Error, psycopg.Error, OSError) as error:
        logger.warning("not ready yet: %s", error)
        return False
    return True


async def _warm_later() -> None:
    """Try until it works: the database may come up after the server."""
    while not await asyncio.to_thread(_warm):
        await asyncio.sleep(_AGAIN_SECS)


application = Root()
