"""Makes drafts into episodes that can land: checked, signed, cut and analyzed, before any lock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accounts.domain.caller import Caller
from accounts.domain.errors import NoPerson
from accounts.domain.scope import Scope, ScopeKind
from ampup_site.kernel.canonical import Canonical
from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import AmpUpError, BadRequest, Forbidden, TooLarge
from memory.domain.acl import Acl, parse_acl
from memory.domain.change import PreparedEpisode
from memory.domain.checks import (
    check_about,
    check_body,
    check_document,
    check_meta,
    check_source,
    check_tags,
)
from memory.domain.episode_types import EpisodeType, check_not_reserved, sign_source
from memory.domain.errors import AclRequired, UnclaimedSource
from memory.domain.ids import body_sha256, episode_id
from memory.domain.indexed import index_body
from memory.domain.limits import BLOB_BYTES, MAX_BATCH_BYTES, MAX_BATCH_EPISODES
from memory.engine import Engine
from memory.landing.failures import storage_unavailable


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """What someone wants remembered.

    Args:
        visibility: `me` or `team`; None takes the scope's default.
        occurred_at: None is now.
    """

    source: str
    body: str
    about: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    acl: tuple[str, ...] | None = None
    visibility: str | None = None
    occurred_at: Micros | None = None
    document: str | None = None


@dataclass(frozen=True, slots=True)
class EpisodeDraft:
    """An episode as an integration gives it."""

    source: str
    body: str
    occurred_at: Micros
    acl: tuple[str, ...] | None = None
    about: tuple[str, ...] = ()
    document: str | None = None
    tags: tuple[str, ...] = ()
    episode_type: str | None = None
    meta: Mapping[str, Canonical] | None = None


def prepare_note(engine: Engine, caller: Caller, scope: Scope, note: NoteDraft) -> PreparedEpisode:
    """Check a note and sign its source."""
    check_source(note.source)
    check_not_reserved(note.source, ingest=False)
    now = engine.clock.now()
    draft = EpisodeDraft(
        source=sign_source(note.source, author=caller.signature),
        body=note.body,
        occurred_at=now if note.occurred_at is None else note.occurred_at,
        about=note.about,
        document=note.document,
        tags=note.tags,
    )
    kind = engine.types.type_of(draft.source)
    if kind is None:
        raise _unclaimed(draft.source)
    acl = _note_acl(caller, scope, note)
    return _prepare(engine, caller, scope, draft, kind=kind, acl=acl, id_of="source_body", now=now)


def prepare_episodes(
    engine: Engine,
    caller: Caller,
    scope: Scope,
    drafts: Sequence[EpisodeDraft],
    *,
    id_of: str,
    unclaimed: str | None,
) -> tuple[PreparedEpisode, ...]:
    """Check the episodes of one ingest; an error names the one at fault by its place.

    Raises:
        AmpUpError: one cannot be taken; `field` is like `episodes[3].source`.
    """
    _check_batch(drafts)
    now = engine.clock.now()
    episodes = []
    for place, draft in enumerate(drafts):
        try:
            episodes.append(
                _prepare(
                    engine,
                    caller,
                    scope,
                    draft,
                    kind=_kind(engine, draft, unclaimed=unclaimed),
                    acl=_ingest_acl(caller, draft),
                    id_of=id_of,
                    now=now,
                )
            )
        except AmpUpError as error:
            error.field = (
                f"episodes[{place}].{error.field}" if error.field else f"episodes[{place}]"
            )
            raise
    return tuple(episodes)


def _check_batch(drafts: Sequence[EpisodeDraft]) -> None:
    if not drafts:
        message = "`episodes` must hold at least one episode."
        raise BadRequest(message, field="episodes")
    if len(drafts) > MAX_BATCH_EPISODES:
        message = f"`episodes` holds {len(drafts)}; send at most {MAX_BATCH_EPISODES} at once."
        raise TooLarge(message, field="episodes")
    if sum(_size(draft.body) for draft in drafts) > MAX_BATCH_BYTES:
        message = f"The bodies are over {MAX_BATCH_BYTES} bytes together; send fewer at once."
        raise TooLarge(message, field="episodes")


def _size(body: str) -> int:
    # Half a surrogate pair is no text; it is refused by name when its episode's turn comes.
    return len(body) if body.isascii() else len(body.encode("utf-8", "replace"))


def _kind(engine: Engine, draft: EpisodeDraft, *, unclaimed: str | None) -> EpisodeType:
    check_source(draft.source)
    check_not_reserved(draft.source, ingest=True)
    if draft.episode_type is not None:
        return engine.types.named(draft.episode_type)
    kind = engine.types.type_of(draft.source)
    if kind is None and unclaimed is not None:
        return engine.types.named(unclaimed)
    if kind is None:
        raise _unclaimed(draft.source)
    return kind


def _prepare(
    engine: Engine,
    caller: Caller,
    scope: Scope,
    draft: EpisodeDraft,
    *,
    kind: EpisodeType,
    acl: Acl,
    id_of: str,
    now: Micros,
) -> PreparedEpisode:
    encoded = check_body(draft.body)
    sha256 = body_sha256(draft.body)
    document = check_document(draft.document)
    return PreparedEpisode(
        episode_id=episode_id(draft.source, draft.body, id_of=id_of),
        source=draft.source,
        episode_type=kind.name,
        document=document,
        occurred_at=draft.occurred_at,
        recorded_at=now,
        body=draft.body,
        body_sha256=sha256,
        body_len=encoded,
        blob=_blob(engine, scope, draft.body, sha256) if encoded > BLOB_BYTES else None,
        author=caller.author,
        acl=acl,
        about=check_about(draft.about),
        tags=check_tags(draft.tags),
        meta=check_meta(draft.meta),
        passages=index_body(draft.body, kind.unit, document),
    )


def _note_acl(caller: Caller, scope: Scope, note: NoteDraft) -> Acl:
    """Return who may read a note: what was asked for, else the default of its scope.

    Source: specification, section 3.
    """
    if note.visibility not in {None, "me", "team"}:
        message = "`visibility` must be `me` or `team`."
        raise BadRequest(message, field="visibility")
    if note.visibility is not None and note.acl is not None:
        message = "Give `acl` or `visibility`, not both."
        raise BadRequest(message, field="visibility")
    if note.acl is not None:
        acl = parse_acl(note.acl, field="acl")
        _check_may_write(caller, acl)
        return acl
    if note.visibility == "me" or (note.visibility is None and scope.kind is ScopeKind.USER):
        if caller.user is None:
            message = "`visibility: me` needs a caller who is a person."
            raise NoPerson(message, field="visibility")
        return parse_acl((f"user:{caller.user}",), field="visibility")
    return parse_acl(("*",), field="acl")


def _ingest_acl(caller: Caller, draft: EpisodeDraft) -> Acl:
    """Return who may read an ingested episode: named on each, or by the key's default."""
    if draft.acl:
        acl = parse_acl(draft.acl, field="acl")
        _check_may_write(caller, acl)
        return acl
    if caller.default_acl is not None:
        return parse_acl(caller.default_acl, field="acl")
    if caller.sees_all:
        return parse_acl(("*",), field="acl")
    message = '`acl` must name who may read the episode, for example ["*"] or ["group:sales"].'
    raise AclRequired(message, field="acl")


def _check_may_write(caller: Caller, acl: Acl) -> None:
    """Refuse a person who would write what they could not read themselves."""
    if caller.user is not None and not set(acl) & set(caller.entries()):
        message = "`acl` must hold an entry of your own, or `*`."
        raise Forbidden(message, field="acl")


def _unclaimed(source: str) -> UnclaimedSource:
    return UnclaimedSource(
        "`source` begins like no episode type's; `ampup-memory episode-type` lists the prefixes.",
        field="source",
        detail={"source": source},
    )


def _blob(engine: Engine, scope: Scope, body: str, sha256: str) -> str:
    try:
        return engine.warehouse.write_blob(scope.namespace, sha256, body.encode())
    except OSError as error:
        raise storage_unavailable(error) from error
