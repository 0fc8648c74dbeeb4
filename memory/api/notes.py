"""POST /remember."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from ninja import Router

from memory.api.answer_schemas import REMEMBERED
from memory.api.answers import remembered
from memory.api.documents import writes
from memory.api.drafts import note_draft
from memory.api.edge import Ask, Written, write
from memory.api.shapes import NoteIn
from memory.domain.episode_views import Remembered
from memory.services.episodes import remember

router: Final = Router(tags=["episodes"])


@router.post("/remember", openapi_extra=writes(NoteIn, answer=REMEMBERED))
async def post_remember(request: HttpRequest) -> HttpResponse:
    """Keep a note under the caller's signature; the same note again changes nothing."""
    return await write(request, _remember)


def _remember(ask: Ask) -> Written[Remembered]:
    note = note_draft(ask.body(NoteIn))
    return Written(remember(ask.engine, ask.caller, ask.scope, note), remembered)
