"""Services' answers as JSON values; the shapes are the specification's, sections 9, 10 and 15."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import orjson

from accounts.domain.caller import Caller
from accounts.domain.roles import rights_of
from accounts.domain.scope import Scope
from memory.domain.episode_types import EpisodeType
from memory.domain.episode_views import (
    AclAmended,
    EpisodePage,
    EpisodeView,
    Forgotten,
    Ingested,
    Remembered,
)
from memory.domain.job import JobView
from memory.domain.text import HitView, render_hits
from memory.domain.windows import Window
from memory.services.indexing import IndexStatus
from memory.services.search import Explained, PassageHit

Answer: TypeAlias = dict[str, object]


def remembered(answer: Remembered) -> Answer:
    """POST /remember."""
    fields: Answer = {
        "episode_id": answer.episode_id,
        "source": answer.source,
        "created": answer.created,
        "commit": answer.commit,
    }
    if answer.acl_unchanged:
        fields["acl_unchanged"] = True
    return fields


def ingested(answer: Ingested) -> Answer:
    """POST /episodes."""
    episodes: list[Answer] = []
    for episode in answer.episodes:
        fields: Answer = {"episode_id": episode.episode_id, "created": episode.created}
        if episode.acl_unchanged:
            fields["acl_unchanged"] = True
        episodes.append(fields)
    return {"episodes": episodes, "commit": answer.commit}


def forgotten(answer: Forgotten) -> Answer:
    """DELETE /episodes/{id}."""
    return {"forgotten": True, "episode_id": answer.episode_id, "commit": answer.commit}


def amended(answer: AclAmended) -> Answer:
    """PUT /episodes/{id}/acl."""
    return {"episode_id": answer.episode_id, "acl": list(answer.acl), "commit": answer.commit}


def episode(view: EpisodeView) -> Answer:
    """GET /episodes/{id}; `acl` only for callers who may amend it."""
    fields: Answer = {
        "episode_id": view.episode_id,
        "source": view.source,
        "type": view.episode_type,
        "body": view.body,
        "units": [{"n": unit.n, "label": unit.label, "text": unit.text} for unit in view.units],
        "occurred_at": view.occurred_at,
        "recorded_at": view.recorded_at,
        "about": list(view.about),
        "document": view.document,
        "tags": list(view.tags),
        "author": view.author,
        "meta": None if view.meta is None else orjson.loads(view.meta),
    }
    if view.acl is not None:
        fields["acl"] = list(view.acl)
    return fields


def searched(query: str, hits: Sequence[PassageHit], window: Window | None) -> Answer:
    """POST /search; facts come with the version that extracts them."""
    return {
        "query": query,
        "as_of": None,
        "window": None if window is None else {"from": window.start, "to": window.end},
        "facts": [],
        "passages": [passage(hit) for hit in hits],
        "episodes": cited(hits),
    }


def cited(hits: Sequence[PassageHit]) -> list[Answer]:
    """Return the episodes of passages, numbered in the order in which the text cites them."""
    first: dict[str, PassageHit] = {}
    for hit in hits:
        first.setdefault(hit.episode_id, hit)
    return [
        {
            "n": n,
            "episode_id": hit.episode_id,
            "source": hit.source,
            "type": hit.episode_type,
            "occurred_at": hit.occurred_at,
        }
        for n, hit in enumerate(first.values(), 1)
    ]


def searched_text(hits: Sequence[PassageHit], *, max_chars: int) -> str:
    """Return the cited text answer that agents and the shell read."""
    views = [
        HitView(
            episode_id=hit.episode_id,
            source=hit.source,
            episode_type=hit.episode_type,
            occurred_at=hit.occurred_at,
            label=hit.label,
            text=hit.text,
        )
        for hit in hits
    ]
    return render_hits(views, max_chars=max_chars)


def passage(hit: PassageHit) -> Answer:
    """One passage of POST /search, POST /query and search_memory."""
    fields: Answer = {
        "episode_id": hit.episode_id,
        "source": hit.source,
        "type": hit.episode_type,
        "units": [hit.first_unit, hit.last_unit],
        "label": hit.label,
        "text": hit.text,
        "score": hit.score,
        "occurred_at": hit.occurred_at,
    }
    if hit.document is not None:
        fields["document"] = hit.document
    if hit.explained is not None:
        fields["explain"] = explained(hit.explained)
    return fields


def explained(how: Explained) -> Answer:
    """How a score came about; without `meaning` where that had no vote."""
    fields: Answer = {"keyword": how.keyword, "fields": ", ".join(how.fields)}
    if how.meaning is not None:
        fields["meaning"] = how.meaning
    return fields


def passages_found(hits: Sequence[PassageHit]) -> Answer:
    """POST /query with find=passages; there is one page, of up to 200."""
    results = [passage(hit) for hit in hits]
    return {"find": "passages", "as_of": None, "results": results, "next_cursor": None}


def episodes_found(page: EpisodePage) -> Answer:
    """POST /query with find=episodes."""
    results: list[Answer] = []
    for summary in page.episodes:
        fields: Answer = {
            "episode_id": summary.episode_id,
            "source": summary.source,
            "type": summary.episode_type,
            "occurred_at": summary.occurred_at,
            "about": list(summary.about),
            "tags": list(summary.tags),
            "title": summary.title,
        }
        if summary.document is not None:
            fields["document"] = summary.document
        results.append(fields)
    return {"find": "episodes", "as_of": None, "results": results, "next_cursor": page.next_cursor}


def job(view: JobView) -> Answer:
    """GET /jobs/{id}."""
    fields: Answer = {
        "job": view.job,
        "kind": view.kind.value,
        "state": view.state.value,
        "done": view.done,
        "total": view.total,
        "commits": list(view.commits),
    }
    if view.refused:
        fields["refused"] = [
            {"position": item.position, "reason": item.reason} for item in view.refused
        ]
    if view.error is not None:
        fields["error"] = view.error
    return fields


def index_status(status: IndexStatus) -> Answer:
    """GET /index/status; the counts only for administrators and services."""
    fields: Answer = {"ready": status.ready, "generation": status.generation}
    if status.counts is not None:
        fields |= {
            "applied": status.counts.applied,
            "pending": status.counts.pending,
            "vectors_pending": status.counts.unembedded,
            "tail": status.counts.tail,
            "tail_long": status.counts.tail_long,
            "analyzer_current": status.counts.analyzer_current,
        }
    return fields


def episode_type(kind: EpisodeType) -> Answer:
    """GET /episode-types/{type}."""
    return {
        "name": kind.name,
        "sources": list(kind.sources),
        "unit": kind.unit.value,
        "letter": kind.letter,
        "predicates": "*" if kind.predicates is None else list(kind.predicates),
    }


def episode_types(kinds: Mapping[str, EpisodeType]) -> Answer:
    """GET /episode-types."""
    results = [episode_type(kind) for kind in kinds.values()]
    return {"results": results, "next_cursor": None}


def whoami(caller: Caller, scope: Scope) -> Answer:
    """GET /whoami: the caller, and the scopes it reaches without naming another."""
    scopes = [scope.spelling]
    if caller.user is not None:
        own = Scope.user_scope(caller.user).spelling
        scopes += [own] if own not in scopes else []
    return {
        "user": caller.user,
        "groups": list(caller.groups),
        "roles": list(caller.roles),
        "role": caller.role.value,
        "org": caller.org,
        "team": caller.team,
        "scopes": scopes,
        "rights": [action.value for action in rights_of(caller.role)],
        "timezone": caller.time_zone,
    }
