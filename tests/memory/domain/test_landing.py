"""What a batch of writes changes, decided without any store."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ampup_site.kernel.clock import Micros
from memory.domain.acl import Acl
from memory.domain.change import (
    AddEpisodes,
    AmendAcl,
    Landed,
    Outcome,
    PreparedEpisode,
    Refused,
    RemoveEpisode,
    Write,
)
from memory.domain.ids import CommitId, EpisodeId, Sha256
from memory.domain.landing import (
    Addition,
    Amendment,
    EpisodeState,
    Key,
    Plan,
    Removal,
    keys_of,
    plan_landing,
)
from memory.domain.lineage import MAIN

EVERYONE, SALES, PRIYA = Acl(("*",)), Acl(("group:sales",)), Acl(("user:priya",))
NAMES = ("a", "b", "c")


def prepared(name: str, acl: Acl = EVERYONE) -> PreparedEpisode:
    """Return an episode of no consequence but its id and ACL."""
    return PreparedEpisode(
        episode_id=EpisodeId(name),
        source=f"note:{name}",
        episode_type="note",
        document=None,
        occurred_at=Micros(0),
        recorded_at=Micros(0),
        body=name,
        body_sha256=Sha256(name),
        body_len=1,
        blob=None,
        author="local",
        acl=acl,
        about=(),
        tags=(),
        meta=None,
        passages=(),
    )


def added(*names: str, acl: Acl = EVERYONE) -> AddEpisodes:
    """Return the change that adds these."""
    return AddEpisodes(tuple(prepared(name, acl) for name in names))


def removed(name: str) -> RemoveEpisode:
    """Return the change that removes this one."""
    return RemoveEpisode(EpisodeId(name), "drop_facts", None, Micros(0))


def amended(name: str, acl: Acl, expected: Acl) -> AmendAcl:
    """Return the change of an ACL."""
    return AmendAcl(EpisodeId(name), acl, expected, None, Micros(0))


def writes(*changes: AddEpisodes | RemoveEpisode | AmendAcl, scope: str = "org_a") -> list[Write]:
    """Return a write for each change, with commit ids c0, c1, …"""
    return [
        Write(CommitId(f"c{n}"), scope, MAIN, "write", "local", change)
        for n, change in enumerate(changes)
    ]


def told(outcomes: Sequence[Outcome]) -> list[Landed | str]:
    """Return outcomes as values that compare: a refusal by its code."""
    return [held.error.code if isinstance(held, Refused) else held for held in outcomes]


def after(states: dict[Key, EpisodeState], plan: Plan) -> dict[Key, EpisodeState]:
    """Apply a plan's effects as the index's rows would: the model of `load_standings`."""
    states = dict(states)
    for effect in plan.effects:
        write = effect.write
        match effect:
            case Addition(episode=episode, present_acl=acl):
                key = (write.namespace, episode.episode_id)
                earlier = states.get(key)
                acl_commit = earlier.acl_commit_id if earlier else write.commit_id
                states[key] = EpisodeState(True, write.commit_id, acl, acl_commit)
            case Removal(removal=removal):
                key = (write.namespace, removal.episode_id)
                states[key] = replace(states[key], live=False, commit_id=write.commit_id)
            case Amendment(amendment=change):
                key = (write.namespace, change.episode_id)
                states[key] = replace(states[key], acl=change.acl, acl_commit_id=write.commit_id)
    return states


acls = st.sampled_from((EVERYONE, SALES, PRIYA))
changes = st.one_of(
    st.builds(
        lambda names, acl: added(*names, acl=acl),
        st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True),
        acls,
    ),
    st.builds(removed, st.sampled_from(NAMES)),
    st.builds(amended, st.sampled_from(NAMES), acls, acls),
)
batches = st.lists(st.tuples(st.sampled_from(("org_a", "org_b")), changes), max_size=12).map(
    lambda drawn: [
        Write(CommitId(f"c{n}"), scope, MAIN, "write", "local", change)
        for n, (scope, change) in enumerate(drawn)
    ]
)


@given(batches, st.integers(0, 12))
def test_a_batch_does_what_its_writes_would_do_one_after_another(
    batch: list[Write], cut: int
) -> None:
    """Ours: how writes fall into landings changes nothing that anybody could tell."""
    whole = plan_landing(batch, {})
    parts = [plan_landing(batch[:cut], {})]
    parts.append(plan_landing(batch[cut:], after({}, parts[0])))

    assert told(whole.outcomes) == [line for part in parts for line in told(part.outcomes)]
    assert list(whole.commits) == [write for part in parts for write in part.commits]
    assert list(whole.effects) == [effect for part in parts for effect in part.effects]
    assert {(key[0]) for key in keys_of(batch)} <= {"org_a", "org_b"}


@given(batches)
def test_a_commit_has_effects_and_every_answer_names_a_commit_that_made_it_so(
    batch: list[Write],
) -> None:
    """Documented: architecture, invariant 4: no ledger row for what changes nothing."""
    plan = plan_landing(batch, {})

    made = {effect.write.commit_id for effect in plan.effects}
    assert {write.commit_id for write in plan.commits} == made
    assert all(held.commit_id in made for held in plan.outcomes if isinstance(held, Landed))
    assert len(plan.outcomes) == len(batch)


@given(batches, changes)
def test_the_same_write_right_after_itself_changes_nothing(
    batch: list[Write], change: AddEpisodes | RemoveEpisode | AmendAcl
) -> None:
    """Documented: concepts, a retried write changes nothing and answers the same."""
    states = after({}, plan_landing(batch, {}))
    first, again = (
        Write(CommitId(name), "org_a", MAIN, "write", "local", change) for name in ("x", "y")
    )
    plan = plan_landing([first, again], states)

    assert again not in plan.commits
    one, two = plan.outcomes
    if isinstance(one, Landed) and isinstance(two, Landed):
        # An add that found some of its episodes live names the newest commit it can.
        assert two.commit_id == one.commit_id or not all(one.created)
        assert not any(two.created)
    else:
        assert told([one]) == told([two])


def test_an_acl_outlives_a_forget_and_a_wider_one_sent_again_widens_nothing() -> None:
    """Documented: specification, section 3."""
    plan = plan_landing(
        writes(
            added("a", acl=SALES),
            amended("a", PRIYA, SALES),
            removed("a"),
            added("a", acl=EVERYONE),
        ),
        {},
    )
    back = plan.effects[-1]
    assert isinstance(back, Addition)
    assert back.present_acl == PRIYA
    assert plan.outcomes[-1] == Landed(CommitId("c3"), (True,), (True,))


def test_removing_what_is_gone_names_the_commit_that_did_and_what_never_was_is_refused() -> None:
    """Documented: case 12 of forgetting; a missing episode is told like an unreadable one."""
    plan = plan_landing(writes(added("a"), removed("a"), removed("a"), removed("b")), {})
    assert told(plan.outcomes[1:]) == [
        Landed(CommitId("c1")),
        Landed(CommitId("c1")),
        "not_found",
    ]


def test_an_amendment_is_compared_with_the_acl_of_its_turn() -> None:
    """Documented: architecture, invariant 8; two amendments from one state cannot both win."""
    plan = plan_landing(
        writes(
            added("a"),
            amended("a", SALES, EVERYONE),
            amended("a", PRIYA, EVERYONE),
            amended("a", SALES, EVERYONE),
            removed("a"),
            amended("a", PRIYA, SALES),
        ),
        {},
    )
    assert told(plan.outcomes[1:]) == [
        Landed(CommitId("c1")),
        "acl_changed",
        Landed(CommitId("c1")),
        Landed(CommitId("c4")),
        "not_found",
    ]


def test_a_batch_with_one_new_episode_adds_only_that_one() -> None:
    """Documented: specification, section 6: `created` is told for each episode."""
    plan = plan_landing(writes(added("a"), added("a", "b", acl=SALES)), {})
    assert plan.outcomes[1] == Landed(CommitId("c1"), (False, True), (True, False))
    assert len(plan.effects) == 2
