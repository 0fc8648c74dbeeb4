"""Episodes as callers meet them: remembered, read, forgotten, amended."""

import pytest

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from ampup_site.kernel.errors import AmpUpError, NotFound, TooLarge
from memory.domain.errors import (
    AclChanged,
    AclRequired,
    ReservedSource,
    StorageUnavailable,
    UnclaimedSource,
)
from memory.engine import Engine
from memory.search.episodes import EpisodeFilters
from memory.services.episodes import (
    amend_acl,
    forget,
    get_episode,
    ingest,
    list_episodes,
    remember,
)
from memory.services.preparing import EpisodeDraft
from memory.services.search import PassageQuery, find_passages
from tests.builders import episode, note, person, reader, service


def _found(engine: Engine, caller: Caller, scope: Scope, text: str) -> list[str]:
    return [hit.episode_id for hit in find_passages(engine, caller, scope, PassageQuery(text))]


def test_a_note_is_found_and_read_as_soon_as_it_is_answered(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: concepts, a write is visible once it is acknowledged."""
    kept = remember(engine, owner, org, note("Launch is on the ninth.\n\nBring cake.")).wait()

    view = get_episode(engine, owner, org, kept.episode_id)

    assert kept.created
    assert kept.source == "mcp:remember_memory:local:acme"
    assert view.body == "Launch is on the ninth.\n\nBring cake."
    assert [(unit.label, unit.text) for unit in view.units] == [
        ("p1", "Launch is on the ninth.\n\n"),
        ("p2", "Bring cake."),
    ]
    assert _found(engine, owner, org, "cake") == [kept.episode_id]


def test_the_same_note_again_changes_nothing_and_names_the_first_commit(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: concepts, a retried write changes nothing."""
    first = remember(engine, owner, org, note()).wait()
    again = remember(engine, owner, org, note()).wait()

    assert (again.episode_id, again.commit) == (first.episode_id, first.commit)
    assert not again.created
    assert engine.warehouse.ledger_seq() == 1


def test_a_write_to_a_server_that_stops_is_refused_as_unavailable(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Regression: it met a bare RuntimeError, which every edge answered as a fault of its own."""
    engine.committer.close()

    with pytest.raises(StorageUnavailable):
        remember(engine, owner, org, note()).wait()


def test_forget_remember_forget_each_take_effect(engine: Engine, owner: Caller, org: Scope) -> None:
    """Documented: specification, section 21."""
    kept = remember(engine, owner, org, note()).wait()
    gone = forget(engine, owner, org, kept.episode_id).wait()
    assert _found(engine, owner, org, "renewal") == []
    with pytest.raises(NotFound):
        get_episode(engine, owner, org, kept.episode_id)

    back = remember(engine, owner, org, note()).wait()
    assert back.created
    assert _found(engine, owner, org, "renewal") == [kept.episode_id]

    gone_again = forget(engine, owner, org, kept.episode_id).wait()
    assert _found(engine, owner, org, "renewal") == []
    assert len({kept.commit, gone.commit, back.commit, gone_again.commit}) == 4


def test_forgetting_again_is_no_error_and_names_the_commit_that_did(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Ours: the retry of an answer that was lost answers the same."""
    kept = remember(engine, owner, org, note()).wait()
    gone = forget(engine, owner, org, kept.episode_id).wait()

    assert forget(engine, owner, org, kept.episode_id).wait() == gone
    assert engine.warehouse.ledger_seq() == 2


def test_narrow_widen_narrow_each_take_effect_at_once(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: specification, section 21; rights are always now."""
    bob = reader("bob")
    kept = remember(engine, owner, org, note()).wait()
    narrow, wide = ["user:priya"], ["*"]
    for acl, expected, seen in (
        (narrow, wide, []),
        (wide, narrow, [kept.episode_id]),
        (narrow, wide, []),
    ):
        amend_acl(engine, owner, org, kept.episode_id, acl=acl, expected=expected).wait()
        assert _found(engine, bob, org, "renewal") == seen

    with pytest.raises(NotFound):
        get_episode(engine, bob, org, kept.episode_id)
    assert engine.warehouse.ledger_seq() == 4


def test_an_amendment_on_another_acl_than_the_present_one_is_refused(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: architecture, invariant 8."""
    kept = remember(engine, owner, org, note()).wait()
    with pytest.raises(AclChanged):
        amend_acl(engine, owner, org, kept.episode_id, acl=["user:a"], expected=["user:b"]).wait()


def test_posting_again_with_a_wider_acl_widens_nothing(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: specification, section 3."""
    ingest(engine, owner, org, [episode(acl=("group:sales",))]).wait()
    again = ingest(engine, owner, org, [episode(acl=("*",))]).wait()

    assert [(item.created, item.acl_unchanged) for item in again.episodes] == [(False, True)]
    assert _found(engine, reader("bob"), org, "renewal") == []
    assert len(_found(engine, reader("ann", "sales"), org, "renewal")) == 1


def test_a_narrowed_episode_stays_narrow_when_it_is_forgotten_and_remembered(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Ours: one present ACL per episode, whatever becomes of the episode."""
    kept = remember(engine, owner, org, note()).wait()
    amend_acl(engine, owner, org, kept.episode_id, acl=["user:priya"], expected=["*"]).wait()
    forget(engine, owner, org, kept.episode_id).wait()
    back = remember(engine, owner, org, note()).wait()

    assert (back.created, back.acl_unchanged) == (True, True)
    assert _found(engine, reader("bob"), org, "renewal") == []


def test_unreadable_and_missing_episodes_are_answered_alike(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: architecture, invariant 6."""
    hidden = ingest(engine, owner, org, [episode(acl=("user:priya",))]).wait()
    bob = reader("bob")
    answers = []
    for episode_id in (hidden.episodes[0].episode_id, "0" * 64):
        with pytest.raises(NotFound) as refusal:
            get_episode(engine, bob, org, episode_id)
        answers.append((refusal.value.code, refusal.value.message, refusal.value.field))

    assert answers[0] == answers[1]


def test_only_its_author_or_an_administrator_forgets_a_note(engine: Engine, org: Scope) -> None:
    """Documented: specification, section 6."""
    priya, bob = person("priya"), person("bob")
    kept = remember(engine, priya, org, note()).wait()
    with pytest.raises(AmpUpError) as refusal:
        forget(engine, bob, org, kept.episode_id).wait()

    assert refusal.value.code == "forbidden"
    assert forget(engine, priya, org, kept.episode_id).wait().episode_id == kept.episode_id


@pytest.mark.parametrize(
    ("draft", "error"),
    [
        (episode(acl=None), AclRequired),
        (episode(source="nobody:1"), UnclaimedSource),
        (episode(source="mcp:remember_memory:x:y"), ReservedSource),
        (episode(source="keep:a:b"), ReservedSource),
    ],
)
def test_an_ingest_that_cannot_be_taken_is_refused_whole(
    engine: Engine, org: Scope, draft: EpisodeDraft, error: type[AmpUpError]
) -> None:
    """Documented: specification, sections 3 and 6."""
    with pytest.raises(error) as refusal:
        ingest(engine, service(), org, [episode("fine"), draft]).wait()

    assert refusal.value.field is not None
    assert refusal.value.field.startswith("episodes[1]")
    assert engine.warehouse.ledger_seq() == 0


def test_a_list_pages_without_gap_or_repeat_over_what_the_caller_sees(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Ours: counts and cursors are made after the filter of rights."""
    drafts = [
        episode(
            f"note {n}",
            source=f"note:{n}",
            occurred_at=episode().occurred_at + n // 3,
            acl=("*",) if n % 2 else ("user:priya",),
        )
        for n in range(20)
    ]
    ingest(engine, owner, org, drafts).wait()

    sources, cursor = [], None
    while True:
        page = list_episodes(engine, reader("bob"), org, EpisodeFilters(), k=3, cursor=cursor)
        sources += [item.source for item in page.episodes]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(sources) == sorted(f"note:{n}" for n in range(20) if n % 2)
    assert len(sources) == len(set(sources))


def test_a_search_never_counts_what_its_caller_may_not_see(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: architecture, invariant 6; below both limits answers are equal byte for byte."""
    bob = reader("bob")
    seen = [episode(f"alpha beta {n} gamma", source=f"note:seen{n}") for n in range(5)]
    ingest(engine, owner, org, seen).wait()
    before = find_passages(engine, bob, org, PassageQuery("alpha gamma delta"))

    hidden = [
        episode(f"alpha delta {n}", source=f"note:hid{n}", acl=("user:priya",)) for n in range(20)
    ]
    ingest(engine, owner, org, hidden).wait()

    assert find_passages(engine, bob, org, PassageQuery("alpha gamma delta")) == before


@pytest.mark.parametrize("reason", ["x" * 2_001, "a\x00b", "half \ud83d"])
def test_a_reason_that_cannot_be_kept_is_refused_by_name_at_every_edge(
    engine: Engine, owner: Caller, org: Scope, reason: str
) -> None:
    """Regression: its length was checked by REST alone."""
    kept = remember(engine, owner, org, note()).wait().episode_id
    for call in (
        lambda: forget(engine, owner, org, kept, reason=reason),
        lambda: amend_acl(engine, owner, org, kept, acl=["*"], expected=["*"], reason=reason),
    ):
        with pytest.raises(AmpUpError) as refused:
            call()
        assert (refused.value.code, refused.value.field) == ("bad_request", "reason")
    assert get_episode(engine, owner, org, kept).acl == ("*",)
    forget(engine, owner, org, kept, reason="asked to,\n" + "x" * 1_900).wait()


def test_a_batch_is_measured_in_bytes(engine: Engine, owner: Caller, org: Scope) -> None:
    """Regression: characters were counted and bytes were said."""
    drafts = [episode("\u00e9" * 2**20, source=f"note:{n}") for n in range(9)]
    with pytest.raises(TooLarge):
        ingest(engine, owner, org, drafts).wait()
