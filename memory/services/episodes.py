"""Episodes: remember and ingest them, read one or a list, forget, amend who may read."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from accounts.domain.caller import Caller
from accounts.domain.roles import Action, Role, allows
from accounts.domain.scope import Scope
from accounts.services.permissions import require
from ampup_site.kernel.errors import BadRequest, Forbidden
from ampup_site.kernel.ids import COMMIT
from ampup_site.kernel.paging import decode_cursor, encode_cursor
from memory.domain.acl import parse_acl
from memory.domain.change import AddEpisodes, AmendAcl, Change, Landed, RemoveEpisode, Write
from memory.domain.checks import check_reason
from memory.domain.episode_views import (
    AclAmended,
    EpisodePage,
    EpisodeSummary,
    EpisodeView,
    Forgotten,
    Ingested,
    IngestedEpisode,
    Remembered,
    UnitView,
)
from memory.domain.ids import SOURCE_AND_BODY, CommitId, parse_episode_id
from memory.domain.landing import no_such_episode
from memory.domain.limits import MAX_K
from memory.domain.lineage import MAIN
from memory.domain.pending import Pending
from memory.domain.records import CommitKind
from memory.domain.units import split_units
from memory.engine import Engine
from memory.search.episodes import (
    EpisodeFilters,
    StoredEpisode,
    find_body,
    find_episode,
    find_titles,
)
from memory.search.episodes import list_episodes as read_page
from memory.services.access import open_scope
from memory.services.preparing import EpisodeDraft, NoteDraft, prepare_episodes, prepare_note

T = TypeVar("T")

TITLE_LENGTH = 80
_ID_BYTES = 32


def remember(engine: Engine, caller: Caller, scope: Scope, note: NoteDraft) -> Pending[Remembered]:
    """Store a note under the caller's signature.

    Raises:
        AmpUpError: the caller may not, or the note cannot be taken; nothing is written.
    """
    require(caller, Action.REMEMBER, scope)
    episode = prepare_note(engine, caller, scope, note)

    def render(landed: Landed) -> Remembered:
        return Remembered(
            episode_id=episode.episode_id,
            source=episode.source,
            created=landed.created[0],
            acl_unchanged=landed.acl_unchanged[0],
            commit=landed.commit_id,
        )

    return _submit(engine, caller, scope, AddEpisodes((episode,)), render, kind=CommitKind.WRITE)


def ingest(
    engine: Engine,
    caller: Caller,
    scope: Scope,
    drafts: Sequence[EpisodeDraft],
    *,
    id_of: str = SOURCE_AND_BODY,
) -> Pending[Ingested]:
    """Store episodes as they are given, all or none.

    Args:
        id_of: `source_body` or `body`: what the id is taken over.

    Raises:
        AmpUpError: one of them cannot be taken; the error names which, and nothing is written.
    """
    require(caller, Action.INGEST, scope)
    episodes = prepare_episodes(engine, caller, scope, drafts, id_of=id_of, unclaimed=None)

    def render(landed: Landed) -> Ingested:
        return Ingested(
            episodes=tuple(
                IngestedEpisode(episode.episode_id, created, unchanged)
                for episode, created, unchanged in zip(
                    episodes, landed.created, landed.acl_unchanged, strict=True
                )
            ),
            commit=landed.commit_id,
        )

    return _submit(engine, caller, scope, AddEpisodes(episodes), render, kind=CommitKind.WRITE)


def forget(
    engine: Engine, caller: Caller, scope: Scope, episode_id: str, *, reason: str | None = None
) -> Pending[Forgotten]:
    """Make an episode gone from every later read; only its author or an administrator may.

    Forgetting it again changes nothing and names the commit that did.

    Raises:
        BadRequest: the reason cannot be kept.
        NotFound: there is none, or none the caller may read.
        Forbidden: it is somebody else's.
    """
    wanted, said = parse_episode_id(episode_id), check_reason(reason)
    with engine.index.reading() as cursor:
        context = open_scope(engine, cursor, caller, scope, action=Action.FORGET)
        stored = find_episode(cursor, context, wanted, gone_too=True)
    if stored is None:
        raise no_such_episode()
    if stored.author != caller.author and caller.role not in {Role.ADMIN, Role.LOCAL}:
        if stored.gone:
            raise no_such_episode()
        message = "Only its author or an administrator may forget an episode."
        raise Forbidden(message, field="episode_id")
    change = RemoveEpisode(
        episode_id=wanted,
        mode="drop_facts",
        reason_episode_id=None,
        recorded_at=engine.clock.now(),
    )
    return _submit(
        engine,
        caller,
        scope,
        change,
        lambda landed: Forgotten(wanted, landed.commit_id),
        kind=CommitKind.TOMBSTONE,
        message=said,
    )


def amend_acl(
    engine: Engine,
    caller: Caller,
    scope: Scope,
    episode_id: str,
    *,
    acl: Sequence[str],
    expected: Sequence[str],
    reason: str | None = None,
) -> Pending[AclAmended]:
    """Change who may read an episode, at once and everywhere, if `expected` is its present ACL.

    Raises:
        BadRequest: the reason or an ACL cannot be kept.
        NotFound: there is none, or none the caller may read.
        AclChanged: the present ACL is another; nothing was changed.
    """
    wanted, said = parse_episode_id(episode_id), check_reason(reason)
    new, old = parse_acl(acl, field="acl"), parse_acl(expected, field="expected")
    with engine.index.reading() as cursor:
        context = open_scope(engine, cursor, caller, scope, action=Action.AMEND_ACL)
        if find_episode(cursor, context, wanted) is None:
            raise no_such_episode()
    change = AmendAcl(
        episode_id=wanted,
        acl=new,
        expected=old,
        reason=said,
        recorded_at=engine.clock.now(),
    )
    return _submit(
        engine,
        caller,
        scope,
        change,
        lambda landed: AclAmended(wanted, new, landed.commit_id),
        kind=CommitKind.ACL,
        message=said,
    )


def get_episode(
    engine: Engine,
    caller: Caller,
    scope: Scope,
    episode_id: str,
    *,
    units: tuple[int, int] | None = None,
) -> EpisodeView:
    """Return an episode with its numbered units.

    Args:
        units: the first and last unit to show; None for all.

    Raises:
        NotFound: there is none, or none the caller may read.
    """
    wanted = parse_episode_id(episode_id)
    with engine.index.reading() as cursor:
        context = open_scope(engine, cursor, caller, scope)
        stored = find_episode(cursor, context, wanted)
        if stored is None:
            raise no_such_episode()
        body = find_body(cursor, context, stored.rid)
    return _view(engine, caller, stored, body, units)


def list_episodes(
    engine: Engine,
    caller: Caller,
    scope: Scope,
    filters: EpisodeFilters,
    *,
    k: int = 20,
    cursor: str | None = None,
) -> EpisodePage:
    """Return a page of the episodes the caller may see, in order of time, then of id.

    Raises:
        BadRequest: `k` is not 1 to 200, or the cursor is none of ours.
    """
    if not 1 <= k <= MAX_K:
        message = f"`k` must be from 1 to {MAX_K}."
        raise BadRequest(message, field="k")
    after = decode_cursor(cursor, key_bytes=_ID_BYTES) if cursor is not None else None
    with engine.index.reading() as reading:
        context = open_scope(engine, reading, caller, scope)
        found = read_page(reading, context, filters, after=after, limit=k + 1)
        page = found[:k]
        titles = find_titles(reading, context, [stored.rid for stored in page], length=TITLE_LENGTH)
    more = len(found) > k
    return EpisodePage(
        episodes=tuple(_summary(stored, titles.get(stored.rid, "")) for stored in page),
        next_cursor=_cursor_after(page[-1]) if more else None,
    )


def _cursor_after(stored: StoredEpisode) -> str:
    """Return the cursor of the page after an episode: where it stands in time, and its id.

    A place in the ledger would tell how much others have written.
    """
    return encode_cursor(stored.occurred_at, bytes.fromhex(stored.episode_id))


def _submit(
    engine: Engine,
    caller: Caller,
    scope: Scope,
    change: Change,
    render: Callable[[Landed], T],
    *,
    kind: CommitKind,
    message: str | None = None,
) -> Pending[T]:
    write = Write(
        commit_id=CommitId(engine.ids.mint(COMMIT)),
        namespace=scope.namespace,
        branch_id=MAIN,
        kind=kind,
        author=caller.author,
        change=change,
        message=message,
    )
    return Pending(engine.committer.submit(write), render)


def _view(
    engine: Engine,
    caller: Caller,
    stored: StoredEpisode,
    body: str,
    units: tuple[int, int] | None,
) -> EpisodeView:
    kind = engine.types.named(stored.episode_type).unit
    shown = [
        UnitView(unit.n, unit.label, body[unit.start : unit.end])
        for unit in split_units(body, kind)
        if units is None or units[0] <= unit.n <= units[1]
    ]
    if units is not None:
        body = "".join(unit.text for unit in shown)
    return EpisodeView(
        episode_id=stored.episode_id,
        source=stored.source,
        episode_type=stored.episode_type,
        body=body,
        units=tuple(shown),
        occurred_at=stored.occurred_at,
        recorded_at=stored.recorded_at,
        about=stored.about,
        tags=stored.tags,
        document=stored.document,
        author=stored.author,
        meta=stored.meta,
        acl=stored.acl if allows(caller.role, Action.AMEND_ACL) else None,
    )


def _summary(stored: StoredEpisode, beginning: str) -> EpisodeSummary:
    return EpisodeSummary(
        episode_id=stored.episode_id,
        source=stored.source,
        episode_type=stored.episode_type,
        occurred_at=stored.occurred_at,
        about=stored.about,
        tags=stored.tags,
        document=stored.document,
        title=beginning.strip().partition("\n")[0].strip(),
    )
