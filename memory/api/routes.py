"""All routes of memory; `ampup_site.urls` mounts them."""

from typing import Final

from ninja import Router

from memory.api import episodes, jobs, notes, search, standing

ROUTERS: Final[tuple[Router, ...]] = (
    notes.router,
    episodes.router,
    search.router,
    standing.router,
    jobs.router,
)
