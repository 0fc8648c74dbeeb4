"""Two orgs with teams, callers of every kind, and texts that most of them must never see."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from accounts.domain.caller import Caller, local_caller
from accounts.domain.key import KeyDraft
from accounts.domain.key_rules import ANY_ORG
from accounts.domain.roles import Role
from accounts.domain.scope import Scope
from accounts.services import keys
from accounts.services.authenticate import authenticate
from ampup_site.kernel.clock import Micros
from memory.engine import Engine
from memory.services import episodes, loads
from tests.accounts.builders import NOON, an_org
from tests.builders import episode

SHARED = "harbour ferry renewal"
"""Words that every text holds, so that a search for them would show all it may."""

MISSING_ID = "0" * 64
MISSING_KEY = "Zz9Zz9Zz"
MISSING_JOB = "job_01ARZ3NDEKTSV4RRFFQ69G5FAV"
ACME, SALES, OPS = "org:acme", "team:acme/sales", "team:acme/ops"
OTHER, WHOLE = "org:other", "org:default"
HOMES = (ACME, SALES, OPS, OTHER, WHOLE)
BOARD = ("group:board",)


@dataclass(frozen=True, slots=True)
class Who:
    """A caller: how it is called here, what it is, and the key it shows."""

    name: str
    role: Role | None
    home: str
    key: str | None
    entries: frozenset[str] = frozenset()

    @property
    def org(self) -> str:
        return self.home.partition(":")[2].partition("/")[0]

    @property
    def team(self) -> str | None:
        return self.home.partition("/")[2] or None

    @property
    def everywhere(self) -> bool:
        """Whether its key is bound to no org."""
        return self.home == WHOLE


@dataclass(frozen=True, slots=True)
class Canary:
    """Something that only some may see; `mark` stands in each of its texts and nowhere else.

    Args:
        alias: a word of its body that is no mark, to look for it by.
        acl: who may read it now; nobody may if it was forgotten.
    """

    name: str
    scope: str
    acl: frozenset[str]
    episode_id: str

    @property
    def mark(self) -> str:
        return f"qq{self.name}"

    @property
    def alias(self) -> str:
        return f"alias{self.name}"

    def hidden_from(self, who: Who) -> bool:
        return who.home != self.scope or not self.acl & who.entries


CALLERS: tuple[tuple[str, Role, str, dict[str, object]], ...] = (
    ("reader", Role.READER, ACME, {}),
    ("ingest", Role.INGEST, ACME, {}),
    ("recorder", Role.RECORDER, ACME, {}),
    ("service", Role.SERVICE, ACME, {}),
    ("person", Role.PERSONAL, ACME, {"person": "sam"}),
    ("admin", Role.ADMIN, ACME, {}),
    ("director", Role.PERSONAL, ACME, {"person": "dora", "groups": ("board",)}),
    ("team reader", Role.READER, SALES, {}),
    ("team ingest", Role.INGEST, SALES, {}),
    ("team admin", Role.ADMIN, SALES, {}),
    ("other team's service", Role.SERVICE, OPS, {}),
    ("other org's reader", Role.READER, OTHER, {"groups": ("board",)}),
    ("other org's ingest", Role.INGEST, OTHER, {}),
    ("other org's person", Role.PERSONAL, OTHER, {"person": "olga", "groups": ("board",)}),
    ("other org's admin", Role.ADMIN, OTHER, {"groups": ("board",)}),
    ("whole server's service", Role.SERVICE, WHOLE, {"groups": ("board",)}),
    ("whole server's admin", Role.ADMIN, WHOLE, {}),
)


@dataclass(slots=True)
class World:
    """The one data set that every cell of the matrix is asked of."""

    engine: Engine
    spool: Path
    callers: tuple[Who, ...]
    canaries: tuple[Canary, ...]
    visible: dict[str, str]
    keys_of: dict[str, str]
    jobs_of: dict[str, str]
    drawn: int = 0
    lines: list[str] = field(default_factory=list)

    def fresh(self) -> int:
        """Return a number that nothing here was named by yet."""
        self.drawn += 1
        return self.drawn

    def who(self, name: str) -> Who:
        return next(who for who in self.callers if who.name == name)

    def hidden_from(self, who: Who) -> list[Canary]:
        return [canary for canary in self.canaries if canary.hidden_from(who)]

    def secrets(self, who: Who) -> Iterator[str]:
        """Return all that no answer to this caller may hold, save what it said itself."""
        for canary in self.hidden_from(who):
            yield canary.mark
            yield canary.episode_id
        for home, public_id in self.foreign_keys(who):
            yield public_id
            yield key_mark(home)
        yield from (held.key for held in self.callers if held.key is not None)

    def foreign_keys(self, who: Who) -> list[tuple[str, str]]:
        """Return the keys that it could not administer, were it an administrator."""
        if who.everywhere and who.key is not None:
            return []
        inside = {who.home} if who.team or who.key is None else {who.home, *_teams_of(who.home)}
        return [(home, key) for home, key in self.keys_of.items() if home not in inside]

    def own_note(self, who: Who) -> str:
        """Return the id of a note that this caller has just written."""
        draft = episode(f"{SHARED} number {self.fresh()}")
        caller = self.signed_in(who)
        writer = Caller(author=caller.author, role=Role.LOCAL)
        scope = scope_of(who.home)
        return episodes.ingest(self.engine, writer, scope, [draft]).wait().episodes[0].episode_id

    def own_job(self, who: Who) -> str:
        """Return a load that this caller has started."""
        draft = episode(f"{SHARED} number {self.fresh()}")
        scope = scope_of(who.home)
        return loads.start_load(self.engine, self.signed_in(who), scope, [draft], spool=self.spool)

    def key_to_end(self, home: str) -> str:
        return make_key(Role.READER, home, label="to be ended")[1]

    def signed_in(self, who: Who) -> Caller:
        return authenticate(who.key, clock=self.engine.clock, local=False)


def build_world(engine: Engine, spool: Path) -> World:
    """Write everything down; the owner does, who sees all."""
    an_org("acme", "sales", "ops")
    an_org("other")
    callers = tuple(_caller(*row) for row in CALLERS)
    nobodies = (
        Who("nobody", None, WHOLE, None),
        Who("a guessed key", None, WHOLE, f"msk_{MISSING_KEY}_{'a' * 32}"),
        Who("a revoked key", None, ACME, _revoked(engine)),
    )
    make_key(Role.PERSONAL, ACME, person="priya")
    visible = {home: _write(engine, home, f"{SHARED} of all in {home}") for home in HOMES}
    canaries = tuple(_canaries(engine))
    for home in HOMES:  # so that a hidden row is neither the first nor the last
        _write(engine, home, f"{SHARED} again of all in {home}")
    world = World(
        engine=engine,
        spool=spool,
        callers=(*nobodies, *callers),
        canaries=canaries,
        visible=visible,
        keys_of={home: make_key(Role.READER, home, label=key_mark(home))[1] for home in HOMES},
        jobs_of={},
    )
    for name in ("service", "other org's admin", "other team's service"):
        world.jobs_of[name] = world.own_job(world.who(name))
    return world


def scope_of(home: str) -> Scope:
    kind, _, rest = home.partition(":")
    if kind == "user":
        return Scope.user_scope(rest)
    org, _, team = rest.partition("/")
    return Scope.team_scope(org=org, team=team) if team else Scope.org_scope(org)


def key_mark(home: str) -> str:
    return f"qqkey{HOMES.index(home)}"


def _teams_of(home: str) -> Sequence[str]:
    return (SALES, OPS) if home == ACME else ()


def _canaries(engine: Engine) -> Iterator[Canary]:
    everyone = ("*",)
    yield _canary(engine, "acl", ACME, BOARD)
    yield _canary(engine, "person", ACME, ("user:priya", "group:board"))
    yield _canary(engine, "team", SALES, everyone)
    yield _canary(engine, "org", OTHER, everyone)
    yield _canary(engine, "orgacl", OTHER, BOARD)
    yield _canary(engine, "own", "user:priya", ("user:priya",))
    forgotten = _canary(engine, "forgotten", ACME, everyone)
    where = scope_of(ACME)
    episodes.forget(engine, local_caller(), where, forgotten.episode_id, reason="as asked").wait()
    yield Canary(forgotten.name, ACME, frozenset(), forgotten.episode_id)
    narrowed = _canary(engine, "narrowed", ACME, everyone)
    episodes.amend_acl(
        engine, local_caller(), where, narrowed.episode_id, acl=BOARD, expected=everyone
    ).wait()
    yield Canary(narrowed.name, ACME, frozenset(BOARD), narrowed.episode_id)


def _canary(engine: Engine, name: str, home: str, acl: Sequence[str]) -> Canary:
    mark = f"qq{name}"
    identity = _write(
        engine,
        home,
        f"{SHARED} alias{name} {mark}",
        source=f"note:{mark}",
        document=mark,
        tags=(mark,),
        about=(f"account:{mark}",),
        meta={"said": mark},
        acl=acl,
    )
    return Canary(name, home, frozenset(acl), identity)


def _write(engine: Engine, home: str, body: str, **fields: object) -> str:
    draft = episode(body, **{"occurred_at": Micros(NOON), **fields})
    done = episodes.ingest(engine, local_caller(), scope_of(home), [draft]).wait()
    return done.episodes[0].episode_id


def _caller(name: str, role: Role, home: str, fields: dict[str, object]) -> Who:
    text, _ = make_key(role, home, **fields)
    groups = fields.get("groups", ())
    assert isinstance(groups, tuple)
    person = fields.get("person")
    held = {"*", *(f"group:{group}" for group in groups), *([f"user:{person}"] if person else [])}
    return Who(name, role, home, text, frozenset(held))


def make_key(role: Role, home: str, **fields: object) -> tuple[str, str]:
    org, _, team = home.partition(":")[2].partition("/")
    place = ANY_ORG if home == WHOLE else org
    draft = KeyDraft(role=role, org=place, team=team or None, **fields)  # type: ignore[arg-type]
    made = keys.create_key(local_caller(), draft, clock=_Now())
    return made.text, made.record.public_id


def _revoked(engine: Engine) -> str:
    text, public_id = make_key(Role.ADMIN, ACME)
    keys.revoke_key(local_caller(), public_id, clock=engine.clock)
    return text


class _Now:
    def now(self) -> Micros:
        return NOON
