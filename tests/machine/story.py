"""A story: what may happen to one org with its callers, and what each step must answer."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
)
from typing_extensions import override

from accounts.domain.roles import Role
from accounts.models import ApiKey
from ampup_site.kernel.clock import Micros
from ampup_site.kernel.failpoints import arm
from mcp_gateway.asgi import McpApp
from memory import wiring
from memory.domain.acl import Acl
from memory.domain.episode_types import sign_source
from memory.domain.text import HitView, render_hits
from tests.accounts.builders import a_key, an_org
from tests.machine.model import Draft, Model, Refused, Who
from tests.machine.surfaces import McpSurface, Note, RestSurface, ShellSurface, Shown

KEYED = ("service", "person", "stranger")
CELLS = [(surface, caller) for surface in ("rest", "mcp") for caller in KEYED]
CELLS += [("shell", "owner")]
GROUPS = ("sales", "ops")
POINTS = ("landing.encoded", "landing.locked", "landing.staged", "landing.copied")
WORDS = (
    *("acme", "renewal", "Priya", "owns", "the", "deal", "launch", "ninth", "cake"),
    *("naïve", "契約", "T-1042"),
)
NOON = 1_774_966_930_000_000

words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
bodies = st.one_of(
    words,
    st.lists(words, min_size=2, max_size=3).map("\n\n".join),
    st.tuples(words, st.integers(2, 4)).map(lambda drawn: f"{drawn[0]} word " * 80 * drawn[1]),
)
moments = st.integers(0, 3).map(lambda n: NOON + n * 1_000_000)
acls = st.sampled_from((("*",), ("group:sales",), ("group:ops",), ("group:ops", "group:sales")))
notes = st.builds(
    Note, st.sampled_from(("note", "a:b")), bodies, moments, st.sampled_from((None, None, "me"))
)
places = st.integers(0, 99)
surfaces = st.sampled_from(CELLS + [cell for cell in CELLS if cell[0] == "mcp"])
"""MCP twice: it has half the verbs."""
full_surfaces = surfaces.filter(lambda cell: cell[0] != "mcp")


@dataclass
class World:
    """What all stories of one test share."""

    app: McpApp
    steps: Counter[tuple[str, str]] = field(default_factory=Counter)
    stories: Iterator[int] = field(default_factory=count)


@dataclass
class Keyed:
    """Somebody with a key, as the model knows them."""

    text: str
    public_id: str
    who: Who
    signature: str


class Story(RuleBasedStateMachine):
    """One org with its callers, and a stranger with the same groups in another org."""

    world: ClassVar[World]

    @initialize()
    def begin(self) -> None:
        number = next(self.world.stories)
        self.home, self.away = an_org(f"home{number}"), an_org(f"away{number}")
        self.person = f"priya{number}"
        self.models = {self.home: Model(), self.away: Model()}
        self.since = wiring.engine().warehouse.ledger_seq()
        self.rebuilds = self.crashes = 0
        self.keys: dict[str, Keyed] = {}
        for name in KEYED:
            self.give_key(name, GROUPS if name == "stranger" else ("ops",))

    def give_key(self, name: str, groups: tuple[str, ...]) -> None:
        org = self.away if name == "stranger" else self.home
        person = self.person if name == "person" else None
        role = Role.PERSONAL if person else Role.SERVICE
        made = a_key(role, org=org, person=person, groups=groups)
        identity = made.record.public_id
        author = f"user:{person}" if person else f"service:{identity}"
        who = Who(author, role.value, self.entries(name, groups))
        signature = person or f"service.{identity}"
        self.keys[name] = Keyed(made.text, identity, who, signature)

    def entries(self, name: str, groups: tuple[str, ...]) -> frozenset[str]:
        own = [f"user:{self.person}"] if name == "person" else []
        return frozenset(["*", *own, *(f"group:{group}" for group in groups)])

    def at(self, cell: tuple[str, str]) -> tuple[Model, Who]:
        """Return the memory a caller uses and who it is there; counts the step."""
        self.world.steps[cell] += 1
        if cell[1] == "owner":
            return self.models[self.home], Who("local", "local", None)
        org = self.away if cell[1] == "stranger" else self.home
        return self.models[org], self.keys[cell[1]].who

    def over(self, cell: tuple[str, str]) -> RestSurface | McpSurface | ShellSurface:
        surface, caller = cell
        if surface == "rest":
            return RestSurface(self.keys[caller].text)
        if surface == "mcp":
            return McpSurface(self.world.app, self.keys[caller].text)
        return ShellSurface(self.home)

    def fully(self, cell: tuple[str, str]) -> RestSurface | ShellSurface:
        surface = self.over(cell)
        assert not isinstance(surface, McpSurface)
        return surface

    def known(self, place: int) -> str:
        """Return an id of somebody's episode, whoever may know it; else a guess."""
        ids = [one for model in self.models.values() for one in model.episodes]
        return ids[place % len(ids)] if ids else "0" * 64

    def noted(self, cell: tuple[str, str], note: Note) -> tuple[Note, Draft]:
        """Return a note that the caller may write, and the episode it becomes."""
        caller = cell[1]
        private = note.visibility is not None and caller == "person"
        signature = "local" if caller == "owner" else self.keys[caller].signature
        acl = Acl((f"user:{self.person}",) if private else ("*",))
        source = sign_source(note.source, author=signature)
        asked = Note(note.source, note.body, note.occurred_at, "me" if private else None)
        return asked, Draft(source, note.body, note.occurred_at, acl)

    @rule(cell=surfaces, note=notes)
    def remember(self, cell: tuple[str, str], note: Note) -> None:
        model, who = self.at(cell)
        asked, draft = self.noted(cell, note)
        assert self.over(cell).remember(asked) == (draft.id, model.add(who, [draft])[0])

    @rule(
        caller=st.sampled_from(KEYED),
        drawn=st.lists(st.tuples(bodies, moments, acls), min_size=1, max_size=5),
    )
    def ingest(self, caller: str, drawn: list[tuple[str, int, Acl]]) -> None:
        model, who = self.at(("rest", caller))
        drafts = [Draft("doc:page", body, moment, Acl(acl)) for body, moment, acl in drawn]
        surface = RestSurface(self.keys[caller].text)
        if caller == "person":
            assert refusal(lambda: surface.ingest(drafts)) == "forbidden"
        else:
            assert surface.ingest(drafts) == model.add(who, drafts)

    @rule(cell=full_surfaces, place=places)
    def forget(self, cell: tuple[str, str], place: int) -> None:
        model, who = self.at(cell)
        identity = self.known(place)
        surface = self.fully(cell)
        assert refusal(lambda: surface.forget(identity)) == refusal(
            lambda: model.forget(who, identity)
        )

    @rule(cell=full_surfaces, place=places, acl=acls, stale=st.booleans())
    def amend(self, cell: tuple[str, str], place: int, acl: Acl, stale: bool) -> None:
        model, who = self.at(cell)
        identity = self.known(place)
        held = model.episodes.get(identity)
        expected = held.acl if held and not stale else Acl(("user:nobody",))
        surface = self.fully(cell)
        assert refusal(lambda: surface.amend(identity, acl=acl, expected=expected)) == refusal(
            lambda: model.amend(who, identity, acl=acl, expected=expected)
        )

    @rule(groups=st.sampled_from(((), ("sales",), ("ops",), GROUPS)))
    def change_groups(self, groups: tuple[str, ...]) -> None:
        key = self.keys["person"]
        ApiKey.objects.filter(public_id=key.public_id).update(groups=list(groups))
        key.who = Who(key.who.author, key.who.role, self.entries("person", groups))

    @rule(name=st.sampled_from(KEYED), groups=st.sampled_from((("ops",), GROUPS)))
    def revoke(self, name: str, groups: tuple[str, ...]) -> None:
        old = self.keys[name]
        ShellSurface(self.home).revoke(old.public_id)
        over_rest, over_mcp = RestSurface(old.text), McpSurface(self.world.app, old.text)
        assert refusal(lambda: over_rest.search("acme", k=5)) == "unauthenticated"
        assert refusal(lambda: over_mcp.search("acme", k=5)) == "unauthenticated"
        self.give_key(name, groups)

    @rule(cell=surfaces, text=words, k=st.sampled_from((1, 3, 10, 200)))
    def search(self, cell: tuple[str, str], text: str, k: int) -> None:
        model, who = self.at(cell)
        assert self.over(cell).search(text, k=k) == model.search(who, text, k=k)

    @rule(cell=surfaces, text=words, k=st.sampled_from((1, 10)))
    def tell(self, cell: tuple[str, str], text: str, k: int) -> None:
        model, who = self.at(cell)
        drafts = {one.draft.id: one.draft for one in model.visible(who)}
        views = [
            HitView(
                episode_id=hit.episode_id,
                source=drafts[hit.episode_id].source,
                episode_type="doc",
                occurred_at=Micros(drafts[hit.episode_id].occurred_at),
                label=hit.label,
                text=hit.text,
            )
            for hit in model.search(who, text, k=k)
        ]
        assert self.over(cell).told(text, k=k) == render_hits(views)

    @rule(cell=surfaces, place=places)
    def get(self, cell: tuple[str, str], place: int) -> None:
        model, who = self.at(cell)
        identity = self.known(place)
        surface = self.over(cell)
        try:
            held = model.read(who, identity)
        except Refused:
            assert refusal(lambda: surface.get(identity)) == "not_found"
        else:
            told = who.role != "personal" and cell[0] != "mcp"
            acl = held.acl if told else None
            assert surface.get(identity) == Shown(held.draft.source, held.draft.body, acl)

    @rule(cell=full_surfaces, k=st.integers(1, 4), newest_first=st.booleans())
    def list(self, cell: tuple[str, str], k: int, newest_first: bool) -> None:
        model, who = self.at(cell)
        shown = self.fully(cell).listed(k=k, newest_first=newest_first)
        assert shown == model.listed(who, newest_first=newest_first)

    @rule(place=places)
    def trespass(self, place: int) -> None:
        self.world.steps[("rest", "stranger")] += 1
        surface = RestSurface(self.keys["stranger"].text, org=self.home)
        for call in (
            lambda: surface.get(self.known(place)),
            lambda: surface.search("acme", k=5),
            lambda: surface.remember(Note("note", "acme", NOON)),
        ):
            assert refusal(call) == "wrong_org"

    @precondition(lambda self: self.rebuilds < 1)
    @rule()
    def rebuild(self) -> None:
        self.rebuilds += 1
        self.world.steps[("shell", "owner")] += 1
        ShellSurface(self.home).rebuild()

    @precondition(lambda self: self.crashes < 2)
    @rule(cell=surfaces, note=notes, point=st.sampled_from(POINTS))
    def crash(self, cell: tuple[str, str], note: Note, point: str) -> None:
        self.crashes += 1
        model, _ = self.at(cell)
        asked, draft = self.noted(cell, note)
        held = model.episodes.get(draft.id)
        arm(f"{point}=raise")
        try:
            code = refusal(lambda: self.over(cell).remember(asked))
        finally:
            arm("")
        # A repeat changes nothing, so it has nothing to lose after it was recognised.
        repeat = held is not None and held.live and point != "landing.encoded"
        assert code == (None if repeat else "storage_unavailable")
        wiring.close_engine()
        wiring.engine()

    @override
    def teardown(self) -> None:
        if hasattr(self, "since"):
            ShellSurface(self.home).verify(since=self.since)


def refusal(call: Callable[[], object]) -> str | None:
    """Return the code that a call is refused with, None if it is not."""
    try:
        call()
    except Refused as refused:
        return str(refused.args[0])
    return None
