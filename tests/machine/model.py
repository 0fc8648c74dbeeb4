"""What memory must answer, as plain Python: lists, dicts and the one ranking formula."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from memory.domain.acl import Acl, matches
from memory.domain.analyzer import Lexemes, analyze, query_terms
from memory.domain.ids import episode_id
from memory.domain.neighbours import thread_number
from memory.domain.passages import cut_passages
from memory.domain.units import UnitKind, split_units
from tests.machine.ranking import Ranked, scores_of

ADMINS = ("local", "admin")
AMENDERS = (*ADMINS, "service")


class Refused(Exception):
    """The answer is an error; its one argument is the code that clients branch on."""


@dataclass(frozen=True)
class Who:
    """A caller; `entries` is None for one who sees everything."""

    author: str
    role: str
    entries: frozenset[str] | None

    def may_read(self, acl: Acl) -> bool:
        return self.entries is None or matches(acl, self.entries)


@dataclass(frozen=True)
class Draft:
    """An episode to be written."""

    source: str
    body: str
    occurred_at: int
    acl: Acl

    @property
    def id(self) -> str:
        return episode_id(self.source, self.body, id_of="source_body")


@dataclass
class Episode:
    """An episode that lived; `place` is where its newest row landed."""

    draft: Draft
    author: str
    acl: Acl
    place: tuple[int, int]
    live: bool = True


@dataclass(frozen=True)
class Hit:
    """A passage found."""

    episode_id: str
    label: str
    text: str
    score: float


@dataclass
class Model:
    """One scope's memory."""

    commits: int = 0
    episodes: dict[str, Episode] = field(default_factory=dict)

    def add(self, who: Who, drafts: Sequence[Draft]) -> list[bool]:
        """Return for each whether it became live; those of one commit stand in order of id."""
        live = {identity for identity, held in self.episodes.items() if held.live}
        fresh = {draft.id: draft for draft in reversed(drafts) if draft.id not in live}
        created = [fresh.get(draft.id) is draft for draft in drafts]
        self.commits += bool(fresh)
        for place, (identity, draft) in enumerate(sorted(fresh.items())):
            acl = self.episodes[identity].acl if identity in self.episodes else draft.acl
            at = (self.commits, place)
            self.episodes[identity] = Episode(draft, who.author, acl, at)
        return created

    def forget(self, who: Who, identity: str) -> None:
        """Make it gone; only its author and administrators may, and may again."""
        held = self.episodes.get(identity)
        if held is None or not who.may_read(held.acl):
            raise Refused("not_found")
        if held.author != who.author and who.role not in ADMINS:
            raise Refused("forbidden" if held.live else "not_found")
        self.commits += held.live
        held.live = False

    def amend(self, who: Who, identity: str, *, acl: Acl, expected: Acl) -> None:
        """Change who may read it, if it is readable by `expected` now."""
        if who.role not in AMENDERS:
            raise Refused("forbidden")
        held = self.read(who, identity)
        if acl != held.acl:
            if expected != held.acl:
                raise Refused("acl_changed")
            self.commits += 1
            held.acl = acl

    def read(self, who: Who, identity: str) -> Episode:
        """Return it; what is gone or hidden was never there."""
        held = self.episodes.get(identity)
        if held is None or not held.live or not who.may_read(held.acl):
            raise Refused("not_found")
        return held

    def visible(self, who: Who) -> list[Episode]:
        """Return what the caller may read, newest landed first."""
        held = [one for one in self.episodes.values() if one.live and who.may_read(one.acl)]
        return sorted(held, key=lambda one: one.place, reverse=True)

    def listed(self, who: Who, *, newest_first: bool) -> list[str]:
        """Return ids in order of when it occurred, then of the ids themselves."""
        shown = self.visible(who)
        shown.sort(key=lambda one: (one.draft.occurred_at, one.draft.id), reverse=newest_first)
        return [one.draft.id for one in shown]

    def search(self, who: Who, text: str, *, k: int) -> list[Hit]:
        """Rank every passage the caller may read, as if there were no others."""
        passages = [(one, *cut) for one in self.visible(who) for cut in _cut(one.draft.body)]
        ranked_as = [
            Ranked(
                analyze(words),
                Lexemes({}, 0),
                thread_number(one.draft.source, passages=len(_cut(one.draft.body)), rid=-number),
                (one.draft.occurred_at, *one.place, place),
            )
            for number, one in enumerate(self.visible(who), start=1)
            for place, (_, words) in enumerate(_cut(one.draft.body))
        ]
        scores = scores_of(ranked_as, query_terms(text))
        best = max(scores, default=0.0)
        ranked = sorted(zip(scores, passages, strict=True), key=lambda pair: -round(pair[0], 9))
        return [
            Hit(one.draft.id, label, words, round(score / best, 6))
            for score, (one, label, words) in ranked[:k]
            if score > 0
        ]


def _cut(body: str) -> list[tuple[str, str]]:
    """Return label and text of a document's passages."""
    return [
        (f"p{one.first_unit}" + f"-p{one.last_unit}" * (one.last_unit > one.first_unit), one.text)
        for one in cut_passages(body, split_units(body, UnitKind.PARAGRAPH))
    ]
