"""GET /whoami, /index/status, /episode-types: how things stand for the one who asks."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from ninja import Router

from accounts.domain.addressing import resolve_scope
from accounts.wiring import door
from ampup_site.kernel.errors import NotFound
from memory.api import answers
from memory.api.answer_schemas import EPISODE_TYPE, EPISODE_TYPES, INDEX_STATUS, WHOAMI
from memory.api.answers import Answer
from memory.api.documents import reads
from memory.api.edge import Ask, read
from memory.services import indexing

router: Final = Router(tags=["standing"])


@router.get("/whoami", openapi_extra=reads(WHOAMI))
async def get_whoami(request: HttpRequest) -> HttpResponse:
    """Return who the caller is, and what it may do."""

    def service(ask: Ask) -> Answer:
        own = resolve_scope(ask.caller, default_org=door().default_org)
        return answers.whoami(ask.caller, own)

    return await read(request, service)


@router.get("/index/status", openapi_extra=reads(INDEX_STATUS))
async def get_index_status(request: HttpRequest) -> HttpResponse:
    """Return where the derived index stands; counts for administrators and services alone."""

    def service(ask: Ask) -> Answer:
        return answers.index_status(indexing.status(ask.engine, ask.caller, ask.scope))

    return await read(request, service)


@router.get("/episode-types", openapi_extra=reads(EPISODE_TYPES))
async def get_episode_types(request: HttpRequest) -> HttpResponse:
    """Return the types of episodes and the sources each claims."""
    return await read(request, lambda ask: answers.episode_types(ask.engine.types.by_name))


@router.get("/episode-types/{name}", openapi_extra=reads(EPISODE_TYPE))
async def get_episode_type(request: HttpRequest, name: str) -> HttpResponse:
    """Return one type."""

    def service(ask: Ask) -> Answer:
        kind = ask.engine.types.by_name.get(name)
        if kind is None:
            known = ", ".join(ask.engine.types.by_name)
            raise NotFound(f"There is no such episode type; there are {known}.", field="type")
        return answers.episode_type(kind)

    return await read(request, service)
