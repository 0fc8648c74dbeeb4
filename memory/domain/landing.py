"""Decides what a batch of writes changes: repeats are recognised by state, in the batch's order.

A pure rule. The committer asks it before encoding, on the state it read, and again under the
landing lock; only when the two plans differ is a file encoded again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ampup_site.kernel.errors import NotFound
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
from memory.domain.errors import AclChanged
from memory.domain.ids import CommitId, EpisodeId

Key = tuple[str, EpisodeId]
"""A namespace and an episode of it."""


@dataclass(frozen=True, slots=True)
class EpisodeState:
    """How an episode stands on the branch a batch lands on.

    Args:
        live: whether it can be read there.
        commit_id: the commit that made it live, or gone, whichever it is now.
        acl: its one present ACL, which outlives a forget.
        acl_commit_id: the commit that made the ACL so.
    """

    live: bool
    commit_id: CommitId
    acl: Acl
    acl_commit_id: CommitId


@dataclass(frozen=True, slots=True)
class Addition:
    """An episode that becomes live, with the ACL that holds for it from now on."""

    write: Write
    episode: PreparedEpisode
    present_acl: Acl


@dataclass(frozen=True, slots=True)
class Removal:
    """An episode that goes."""

    write: Write
    removal: RemoveEpisode


@dataclass(frozen=True, slots=True)
class Amendment:
    """An ACL that changes."""

    write: Write
    amendment: AmendAcl


Effect = Addition | Removal | Amendment


@dataclass(frozen=True, slots=True)
class Plan:
    """What a batch does.

    Args:
        outcomes: one for each write, in order.
        commits: the writes that add a ledger row, in order.
        effects: the rows they add, in order.
    """

    outcomes: tuple[Outcome, ...]
    commits: tuple[Write, ...]
    effects: tuple[Effect, ...]


@dataclass(slots=True)
class _Planner:
    states: dict[Key, EpisodeState]
    effects: list[Effect] = field(default_factory=list)
    commits: list[Write] = field(default_factory=list)

    def take(self, write: Write) -> Outcome:
        before = len(self.effects)
        outcome: Outcome
        if isinstance(write.change, AddEpisodes):
            outcome = self._add(write, write.change)
        elif isinstance(write.change, RemoveEpisode):
            outcome = self._remove(write, write.change)
        else:
            outcome = self._amend(write, write.change)
        if len(self.effects) > before:
            self.commits.append(write)
        return outcome

    def _add(self, write: Write, change: AddEpisodes) -> Outcome:
        created, unchanged, earlier = [], [], []
        for episode in change.episodes:
            key = (write.namespace, episode.episode_id)
            state = self.states.get(key)
            acl = state.acl if state else episode.acl
            created.append(not (state and state.live))
            unchanged.append(acl != episode.acl)
            if state and state.live:
                earlier.append(state.commit_id)
                continue
            self.effects.append(Addition(write, episode, acl))
            self.states[key] = EpisodeState(
                live=True,
                commit_id=write.commit_id,
                acl=acl,
                acl_commit_id=state.acl_commit_id if state else write.commit_id,
            )
        # Ids rise with time: of a batch that was there already the last commit made it whole.
        return Landed(
            commit_id=write.commit_id if any(created) else max(earlier),
            created=tuple(created),
            acl_unchanged=tuple(unchanged),
        )

    def _remove(self, write: Write, change: RemoveEpisode) -> Outcome:
        key = (write.namespace, change.episode_id)
        state = self.states.get(key)
        if state is None:
            return Refused(no_such_episode())
        if not state.live:
            return Landed(state.commit_id)
        self.effects.append(Removal(write, change))
        self.states[key] = replace(state, live=False, commit_id=write.commit_id)
        return Landed(write.commit_id)

    def _amend(self, write: Write, change: AmendAcl) -> Outcome:
        key = (write.namespace, change.episode_id)
        state = self.states.get(key)
        if state is None or not state.live:
            return Refused(no_such_episode())
        if state.acl == change.acl:
            return Landed(state.acl_commit_id)
        if state.acl != change.expected:
            return Refused(
                AclChanged(
                    "`expected` is not the present ACL; read the episode and amend again.",
                    field="expected",
                )
            )
        self.effects.append(Amendment(write, change))
        self.states[key] = replace(state, acl=change.acl, acl_commit_id=write.commit_id)
        return Landed(write.commit_id)


def no_such_episode() -> NotFound:
    """Return the one answer for an episode that is missing, gone or unreadable."""
    return NotFound("No such episode.", field="episode_id")


def keys_of(writes: Sequence[Write]) -> frozenset[Key]:
    """Return the episodes whose state decides what the writes do."""
    keys: set[Key] = set()
    for write in writes:
        change = write.change
        if isinstance(change, AddEpisodes):
            keys.update((write.namespace, episode.episode_id) for episode in change.episodes)
        else:
            keys.add((write.namespace, change.episode_id))
    return frozenset(keys)


def plan_landing(writes: Sequence[Write], states: Mapping[Key, EpisodeState]) -> Plan:
    """Decide what each write changes, as if they landed one after another.

    Args:
        states: how each episode of `keys_of(writes)` stands; missing where it never lived.
    """
    planner = _Planner(dict(states))
    outcomes = tuple(planner.take(write) for write in writes)
    return Plan(outcomes, tuple(planner.commits), tuple(planner.effects))
