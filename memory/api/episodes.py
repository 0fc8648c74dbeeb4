"""POST /episodes, GET and DELETE /episodes/{id}, PUT /episodes/{id}/acl."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from ninja import Router

from memory.api import answers
from memory.api.answer_schemas import AMENDED, EPISODE, FORGOTTEN, INGESTED, PROMISED
from memory.api.answers import Answer
from memory.api.documents import reads, writes
from memory.api.drafts import episode_drafts
from memory.api.edge import Accepted, Ask, Written, read, write
from memory.api.parameters import unit_range
from memory.api.shapes import AclIn, ForgetIn, IngestIn
from memory.domain.episode_views import AclAmended, Forgotten, Ingested
from memory.services import episodes
from memory.services.loads import start_load
from memory.wiring import spool_folder

router: Final = Router(tags=["episodes"])


@router.post("/episodes", openapi_extra=writes(IngestIn, answer=INGESTED, accepted=PROMISED))
async def post_episodes(request: HttpRequest) -> HttpResponse:
    """Store episodes as they are given, all or none; a bare list of them is taken too."""
    return await write(request, _ingest)


@router.get(
    "/episodes/{episode_id}",
    openapi_extra=reads(EPISODE, units="One unit or a range, like 3-7, counted from 1."),
)
async def get_episode(request: HttpRequest, episode_id: str) -> HttpResponse:
    """Return an episode with its numbered units."""

    def service(ask: Ask) -> Answer:
        units = unit_range(ask.request)
        view = episodes.get_episode(ask.engine, ask.caller, ask.scope, episode_id, units=units)
        return answers.episode(view)

    return await read(request, service, "units")


@router.delete(
    "/episodes/{episode_id}", openapi_extra=writes(ForgetIn, answer=FORGOTTEN, required=False)
)
async def delete_episode(request: HttpRequest, episode_id: str) -> HttpResponse:
    """Make an episode gone from every later read."""

    def service(ask: Ask) -> Written[Forgotten]:
        body = ask.body(ForgetIn) if ask.has_body() else ForgetIn()
        pending = episodes.forget(ask.engine, ask.caller, ask.scope, episode_id, reason=body.reason)
        return Written(pending, answers.forgotten)

    return await write(request, service)


@router.put("/episodes/{episode_id}/acl", openapi_extra=writes(AclIn, answer=AMENDED))
async def put_acl(request: HttpRequest, episode_id: str) -> HttpResponse:
    """Change who may read an episode if `expected` is its present ACL."""

    def service(ask: Ask) -> Written[AclAmended]:
        body = ask.body(AclIn)
        pending = episodes.amend_acl(
            ask.engine,
            ask.caller,
            ask.scope,
            episode_id,
            acl=body.acl,
            expected=body.expected,
            reason=body.reason,
        )
        return Written(pending, answers.amended)

    return await write(request, service)


def _ingest(ask: Ask) -> Written[Ingested] | Accepted:
    body = ask.body(IngestIn, listed_as="episodes")
    wanted = episode_drafts(body.episodes)
    if not body.background:
        pending = episodes.ingest(ask.engine, ask.caller, ask.scope, wanted, id_of=body.id_of)
        return Written(pending, answers.ingested)
    job = start_load(
        ask.engine, ask.caller, ask.scope, wanted, spool=spool_folder(), id_of=body.id_of
    )
    return Accepted({"job": job})
