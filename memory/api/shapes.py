"""The bodies of requests; what a field may hold is checked by the services and their domain."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from ampup_site.kernel.errors import AmpUpError
from memory.api.body import Body
from memory.domain.limits import DEFAULT_CHARS, MAX_CHARS, MIN_CHARS

Moment = int | str
"""Microseconds since 1970 or RFC 3339; read by the one parser of times."""


class NoteIn(Body):
    """POST /remember."""

    source: str
    body: str
    about: list[str] | None = None
    tags: list[str] | None = None
    acl: list[str] | None = None
    visibility: Literal["me", "team"] | None = None
    occurred_at: Moment | None = None
    document: str | None = None


class EpisodeIn(Body):
    """One of the episodes of POST /episodes."""

    source: str
    body: str
    occurred_at: Moment
    acl: list[str] | None = None
    about: list[str] | None = None
    document: str | None = None
    tags: list[str] | None = None
    type: str | None = None
    meta: dict[str, Any] | None = None


class IngestIn(Body):
    """POST /episodes."""

    nested: ClassVar[Mapping[str, type[Body]]] = {"episodes": EpisodeIn}

    episodes: list[EpisodeIn]
    id_of: Literal["source_body", "body"] = "source_body"
    background: bool = False


class AclIn(Body):
    """PUT /episodes/{id}/acl."""

    acl: list[str]
    expected: list[str]
    reason: str | None = None


class ForgetIn(Body):
    """DELETE /episodes/{id}."""

    later: ClassVar[frozenset[str]] = frozenset({"erase"})

    reason: str | None = None


class SearchIn(Body):
    """POST /search."""

    later: ClassVar[frozenset[str]] = frozenset({"as_of", "predicates", "at", "branch"})

    query: str
    k: int = 10
    about: str | None = None
    episode_type: str | None = None
    tags: list[str] | None = None
    order: Literal["relevance", "newest", "oldest"] = "relevance"
    format: Literal["json", "text"] = "json"
    explain: bool = False
    max_chars: int = Field(default=DEFAULT_CHARS, ge=MIN_CHARS, le=MAX_CHARS)


class BadQuery(AmpUpError):
    """A structured query that cannot be answered."""

    code = "bad_query"


class QueryIn(Body):
    """What every structured query may name; `find` is read before its shape is known."""

    malformed: ClassVar[type[AmpUpError]] = BadQuery
    invalid: ClassVar[type[AmpUpError]] = BadQuery
    later: ClassVar[frozenset[str]] = frozenset(
        {
            "entity",
            "entities",
            "type",
            "predicates",
            "where",
            "as_of",
            "at",
            "branch",
            "select",
        }
    )

    find: str
    k: int = 20
    episode_type: str | None = None
    source: str | None = None
    tags: list[str] | None = None
    about: str | None = None
    occurred_from: Moment | None = Field(default=None, alias="from")
    occurred_to: Moment | None = Field(default=None, alias="to")


class FindPassagesIn(QueryIn):
    """POST /query with find=passages."""

    text: str
    order: Literal["relevance", "newest", "oldest"] = "relevance"
    explain: bool = False


class FindEpisodesIn(QueryIn):
    """POST /query with find=episodes."""

    order: Literal["newest", "oldest"] = "newest"
    cursor: str | None = None
