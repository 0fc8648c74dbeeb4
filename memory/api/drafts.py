"""From the shapes of requests to the services' drafts and filters."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ampup_site.kernel.canonical import Canonical
from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import AmpUpError
from memory.api.shapes import EpisodeIn, FindEpisodesIn, FindPassagesIn, NoteIn, SearchIn
from memory.domain.checks import check_meta
from memory.domain.times import parse_time
from memory.search.episodes import EpisodeFilters
from memory.services.preparing import EpisodeDraft, NoteDraft
from memory.services.search import PassageQuery


def note_draft(note: NoteIn) -> NoteDraft:
    """Return what POST /remember asks to keep."""
    return NoteDraft(
        source=note.source,
        body=note.body,
        about=tuple(note.about or ()),
        tags=tuple(note.tags or ()),
        acl=None if note.acl is None else tuple(note.acl),
        visibility=note.visibility,
        occurred_at=_moment(note.occurred_at, field="occurred_at"),
        document=note.document,
    )


def episode_drafts(episodes: Sequence[EpisodeIn]) -> tuple[EpisodeDraft, ...]:
    """Return what POST /episodes asks to store.

    Raises:
        BadRequest: a time or `meta` cannot be read; the field names the episode's place.
    """
    drafts = []
    for n, episode in enumerate(episodes):
        try:
            drafts.append(_episode_draft(episode))
        except AmpUpError as error:
            error.field = f"episodes[{n}].{error.field}"
            raise
    return tuple(drafts)


def search_query(search: SearchIn) -> PassageQuery:
    """Return what POST /search looks for."""
    return PassageQuery(
        text=search.query,
        k=search.k,
        order=search.order,
        filters=EpisodeFilters(
            episode_type=search.episode_type,
            tags=tuple(search.tags or ()),
            about=search.about,
        ),
        explain=search.explain,
    )


def passage_query(query: FindPassagesIn) -> PassageQuery:
    """Return what POST /query with find=passages looks for."""
    filters = query_filters(query)
    return PassageQuery(
        text=query.text, k=query.k, order=query.order, filters=filters, explain=query.explain
    )


def query_filters(query: FindPassagesIn | FindEpisodesIn) -> EpisodeFilters:
    """Return which episodes a structured query means."""
    return EpisodeFilters(
        episode_type=query.episode_type,
        source_prefix=query.source,
        tags=tuple(query.tags or ()),
        about=query.about,
        occurred_from=_moment(query.occurred_from, field="from"),
        occurred_to=_moment(query.occurred_to, field="to"),
        newest_first=query.order != "oldest",
    )


def _episode_draft(episode: EpisodeIn) -> EpisodeDraft:
    return EpisodeDraft(
        source=episode.source,
        body=episode.body,
        occurred_at=parse_time(episode.occurred_at, field="occurred_at"),
        acl=None if episode.acl is None else tuple(episode.acl),
        about=tuple(episode.about or ()),
        document=episode.document,
        tags=tuple(episode.tags or ()),
        episode_type=episode.type,
        meta=None if episode.meta is None else _meta(episode.meta),
    )


def _moment(value: int | str | None, *, field: str) -> Micros | None:
    return None if value is None else parse_time(value, field=field)


def _meta(meta: Mapping[str, Any]) -> Mapping[str, Canonical]:
    """Return `meta` checked: what is refused here never becomes a background load."""
    checked = cast("Mapping[str, Canonical]", meta)
    check_meta(checked)
    return checked
