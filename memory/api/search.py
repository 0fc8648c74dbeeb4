"""POST /search and POST /query."""

from collections.abc import Callable, Mapping
from typing import Final

from django.http import HttpRequest, HttpResponse
from ninja import Router

from ampup_site.kernel.errors import AmpUpError, ErrorKind
from memory.api import answers, drafts
from memory.api.answer_schemas import FOUND, SEARCHED
from memory.api.answers import Answer
from memory.api.body import read_shape
from memory.api.documents import writes
from memory.api.edge import Ask, read
from memory.api.shapes import BadQuery, FindEpisodesIn, FindPassagesIn, SearchIn
from memory.services.episodes import list_episodes
from memory.services.search import asked_window, find_passages

router: Final = Router(tags=["search"])

_LATER: Final = ("facts", "entities", "history")


@router.post("/search", openapi_extra=writes(SearchIn, answer=SEARCHED))
async def post_search(request: HttpRequest) -> HttpResponse:
    """Find what answers a question: passages of the sources, best first, with citations."""
    return await read(request, _search)


@router.post("/query", openapi_extra=writes(FindPassagesIn, FindEpisodesIn, answer=FOUND))
async def post_query(request: HttpRequest) -> HttpResponse:
    """Find passages by text, or list episodes, page by page."""
    return await read(request, _query)


def _search(ask: Ask) -> Answer:
    body = ask.body(SearchIn)
    hits = find_passages(ask.engine, ask.caller, ask.scope, drafts.search_query(body))
    if body.format == "text":
        text = answers.searched_text(hits, max_chars=body.max_chars)
        return {"query": body.query, "text": text}
    window = asked_window(ask.engine, ask.caller, body.query)
    return answers.searched(body.query, hits, window)


def _query(ask: Ask) -> Answer:
    value = ask.json()
    if not isinstance(value, dict):
        raise BadQuery("The body must be one JSON object.")
    find = value.get("find")
    service = _FINDS.get(find) if isinstance(find, str) else None
    if service is None:
        raise _unknown_find(find)
    try:
        return service(ask, value)
    except AmpUpError as error:
        raise _as_bad_query(error) from error


def _find_passages(ask: Ask, value: object) -> Answer:
    query = drafts.passage_query(read_shape(value, FindPassagesIn))
    return answers.passages_found(find_passages(ask.engine, ask.caller, ask.scope, query))


def _find_episodes(ask: Ask, value: object) -> Answer:
    query = read_shape(value, FindEpisodesIn)
    page = list_episodes(
        ask.engine,
        ask.caller,
        ask.scope,
        drafts.query_filters(query),
        k=query.k,
        cursor=query.cursor,
    )
    return answers.episodes_found(page)


_FINDS: Final[Mapping[str, Callable[[Ask, object], Answer]]] = {
    "passages": _find_passages,
    "episodes": _find_episodes,
}


def _unknown_find(find: object) -> BadQuery:
    known = ", ".join(_FINDS)
    if isinstance(find, str) and find in _LATER:
        message = f"`find` {find} is not served by this version; it serves {known}."
    else:
        message = f"`find` must be one of {known}."
    return BadQuery(message, field="find")


def _as_bad_query(error: AmpUpError) -> AmpUpError:
    """Return a refused value under the code and the names of this route."""
    if error.kind is not ErrorKind.INVALID or isinstance(error, BadQuery):
        return error
    if error.code != AmpUpError.code:
        return error
    field = "text" if error.field == "query" else error.field
    message = error.message.replace("`query`", "`text`")
    return BadQuery(message, field=field, detail=error.detail)
