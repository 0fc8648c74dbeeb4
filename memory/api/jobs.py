"""GET /jobs/{id}."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from ninja import Router

from memory.api import answers
from memory.api.answer_schemas import JOB
from memory.api.answers import Answer
from memory.api.documents import reads
from memory.api.edge import Ask, read
from memory.services.jobs import get_job

router: Final = Router(tags=["jobs"])


@router.get("/jobs/{job_id}", openapi_extra=reads(JOB))
async def show_job(request: HttpRequest, job_id: str) -> HttpResponse:
    """Return how far a background load is; a chunk is written once its commit is listed."""

    def service(ask: Ask) -> Answer:
        return answers.job(get_job(ask.engine, ask.caller, ask.scope, job_id))

    return await read(request, service)
