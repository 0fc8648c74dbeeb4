"""How the matrix calls each route, tool, method and command, and who may.

A new one needs an entry here, or the build fails: say how a caller asks it for what is its own,
what right that takes, and how it is asked for something by id.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from accounts.domain.roles import Action, allows
from tests.leaks.world import ACME, MISSING_ID, SHARED, Who, World
from tests.memory.api.rest import EPISODE


class Door(Enum):
    """Who is let in where the rights table names no right."""

    OPEN = "anybody, without a key"
    KEYED = "whoever has a key"


class Kind(Enum):
    """What an id is of."""

    EPISODE = "episode"
    JOB = "job"
    KEY = "key"


@dataclass(frozen=True, slots=True)
class Ask:
    """One call: names in the path, and a body or arguments."""

    names: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """How one thing is called.

    Args:
        right: what a caller needs.
        own: asks for what is the caller's own and must be served if it may.
        by_id: what kind of id it takes, and how it is asked for one.
        also: what else decides, beside the role.
        scoped: whether it takes the scope of a memory.
        faulty: a protocol error it always answers with.
    """

    right: Action | Door
    own: Callable[[World, Who], Ask]
    by_id: tuple[Kind, Callable[[str], Ask]] | None = None
    also: Callable[[Who], bool] = lambda who: True
    scoped: bool = True
    faulty: int | None = None

    def lets_in(self, who: Who) -> bool:
        """Tell whether the caller must be served."""
        if self.right is Door.OPEN:
            return True
        if who.role is None:
            return False
        may = self.right is Door.KEYED or allows(who.role, self.right)
        return may and self.also(who)


def _plain(world: World, who: Who) -> Ask:
    return Ask()


def _note(world: World, who: Who) -> Ask:
    return Ask(body={"source": "acme", "body": f"{SHARED} number {world.fresh()}"})


def _episodes(world: World, who: Who) -> Ask:
    body = f"{SHARED} number {world.fresh()}"
    return Ask(body={"episodes": [{**EPISODE, "body": body}]})


def _search(world: World, who: Who) -> Ask:
    return Ask(body={"query": SHARED, "k": 200})


def _query(world: World, who: Who) -> Ask:
    find = ("passages", "episodes")[world.fresh() % 2]
    text = {"text": SHARED} if find == "passages" else {}
    return Ask(body={"find": find, "k": 200, **text})


def _visible(world: World, who: Who) -> Ask:
    return _episode(world.visible[who.home])


def _episode(identity: str) -> Ask:
    return Ask({"episode_id": identity})


def _forgettable(world: World, who: Who) -> Ask:
    return _episode(world.own_note(who) if who.role is not None else MISSING_ID)


def _amendable(world: World, who: Who) -> Ask:
    return _acl(world.visible[who.home])


def _acl(identity: str) -> Ask:
    return Ask({"episode_id": identity}, {"acl": ["*"], "expected": ["*"]})


def _job(identity: str) -> Ask:
    return Ask({"job_id": identity})


def _own_job(world: World, who: Who) -> Ask:
    if who.role is None or not allows(who.role, Action.INGEST):
        return _job(world.jobs_of["service"])
    return _job(world.own_job(who))


def _key(identity: str) -> Ask:
    return Ask({"public_id": identity})


def _own_key(world: World, who: Who) -> Ask:
    return _key(world.key_to_end(who.home))


def _new_key(world: World, who: Who) -> Ask:
    return Ask(body={"role": "reader", "label": f"made {world.fresh()}"})


def _new_org(world: World, who: Who) -> Ask:
    return Ask(body={"org": f"made{world.fresh()}"})


def _new_team(world: World, who: Who) -> Ask:
    return Ask(body={"team": f"made{world.fresh()}"})


def _type(world: World, who: Who) -> Ask:
    return Ask({"name": "doc"})


def _has_no_team(who: Who) -> bool:
    return who.team is None


def _whole(who: Who) -> bool:
    return who.everywhere


def _open(own: Callable[[World, Who], Ask] = _plain) -> Entry:
    return Entry(Door.OPEN, own, scoped=False)


def _keyed(own: Callable[[World, Who], Ask] = _plain) -> Entry:
    return Entry(Door.KEYED, own)


ROUTES: Final[Mapping[str, Entry]] = {
    "GET /healthz": _open(),
    "HEAD /healthz": _open(),
    "GET /readyz": _open(),
    "HEAD /readyz": _open(),
    "GET /openapi.json": _open(),
    "GET /whoami": _keyed(),
    "GET /episode-types": _keyed(),
    "GET /episode-types/{name}": _keyed(_type),
    "GET /index/status": Entry(Action.READ, _plain),
    "POST /search": Entry(Action.READ, _search),
    "POST /query": Entry(Action.READ, _query),
    "GET /episodes/{episode_id}": Entry(Action.READ, _visible, (Kind.EPISODE, _episode)),
    "POST /remember": Entry(Action.REMEMBER, _note),
    "POST /episodes": Entry(Action.INGEST, _episodes),
    "DELETE /episodes/{episode_id}": Entry(Action.FORGET, _forgettable, (Kind.EPISODE, _episode)),
    "PUT /episodes/{episode_id}/acl": Entry(Action.AMEND_ACL, _amendable, (Kind.EPISODE, _acl)),
    "GET /jobs/{job_id}": Entry(Action.JOBS, _own_job, (Kind.JOB, _job)),
    "POST /orgs": Entry(Action.ADMINISTER, _new_org, also=_whole, scoped=False),
    "POST /teams": Entry(Action.ADMINISTER, _new_team, also=_has_no_team, scoped=False),
    "POST /keys": Entry(Action.ADMINISTER, _new_key, scoped=False),
    "GET /keys": Entry(Action.ADMINISTER, _plain, scoped=False),
    "DELETE /keys/{public_id}": Entry(Action.ADMINISTER, _own_key, (Kind.KEY, _key), scoped=False),
}


def _tool_search(world: World, who: Who) -> Ask:
    form = ("text", "json")[world.fresh() % 2]
    return Ask(body={"query": SHARED, "k": 200, "format": form, "max_chars": 20_000})


def _tool_episode(world: World, who: Who) -> Ask:
    return _tool_opened(world.visible[who.home])


def _tool_opened(identity: str) -> Ask:
    return Ask(body={"episode_id": identity})


def _tool_note(world: World, who: Who) -> Ask:
    return Ask(body={"text": f"{SHARED} number {world.fresh()}"})


TOOLS: Final[Mapping[str, Entry]] = {
    "search_memory": Entry(Action.READ, _tool_search),
    "get_episode": Entry(Action.READ, _tool_episode, (Kind.EPISODE, _tool_opened)),
    "remember_memory": Entry(Action.REMEMBER, _tool_note),
}


def _named(**params: object) -> Callable[[World, Who], Ask]:
    return lambda world, who: Ask(body=params)


_LISTS: Final = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
_NO_RESOURCE: Final = Entry(Door.KEYED, _named(uri="memory://qq"), scoped=False, faulty=-32602)
_NO_RESOURCE_ONCE: Final = Entry(Door.KEYED, _named(uri="memory://qq"), scoped=False, faulty=-32002)
_NO_PROMPT: Final = Entry(Door.KEYED, _named(name="p"), scoped=False, faulty=-32602)
_ANSWERED: Final = Entry(Door.KEYED, _plain, scoped=False)

RPC: Final[Mapping[str, Entry]] = {
    **{f"{era} {name}": _ANSWERED for era in ("legacy", "modern") for name in _LISTS},
    "legacy initialize": Entry(
        Door.KEYED, _named(protocolVersion="2025-11-25", capabilities={}), scoped=False
    ),
    "legacy ping": _ANSWERED,
    "modern server/discover": _ANSWERED,
    "legacy prompts/get": _NO_PROMPT,
    "modern prompts/get": _NO_PROMPT,
    "legacy resources/read": _NO_RESOURCE_ONCE,
    "modern resources/read": _NO_RESOURCE,
}


@dataclass(frozen=True, slots=True)
class Shell:
    """How a command is run: always as the server's owner, who is asked for no key.

    Args:
        words: after the command's name.
        elsewhere: the test that runs it instead, where it is a process of its own.
        scope: the scope that it is to stay in; None where it shows no memory's text.
    """

    words: Callable[[World], tuple[str, ...]] = lambda world: ()
    elsewhere: str | None = None
    scope: str | None = None


_AT_ACME: Final = ("--scope", ACME)


def _shell_id(world: World) -> tuple[str, ...]:
    return (world.visible[ACME], *_AT_ACME)


def _shell_own_note(world: World) -> tuple[str, ...]:
    return (world.own_note(world.who("service")), *_AT_ACME)


COMMANDS: Final[Mapping[str, Shell]] = {
    "apikey create": Shell(lambda world: ("--role", "reader", "--org", "acme")),
    "apikey list": Shell(),
    "apikey revoke": Shell(lambda world: (world.key_to_end(ACME),)),
    "org create": Shell(lambda world: (f"made{world.fresh()}",)),
    "org list": Shell(),
    "team create": Shell(lambda world: (f"made{world.fresh()}", "--org", "acme")),
    "team list": Shell(),
    "remember": Shell(lambda world: ("x", f"number {world.fresh()}", *_AT_ACME), scope=ACME),
    "search": Shell(lambda world: (SHARED, "-k", "200", *_AT_ACME), scope=ACME),
    "episode get": Shell(_shell_id, scope=ACME),
    "episode list": Shell(lambda world: ("-k", "200", *_AT_ACME), scope=ACME),
    "episode forget": Shell(_shell_own_note, scope=ACME),
    "episode acl": Shell(
        lambda world: (*_shell_id(world), "--set", "*", "--expected", "*"), scope=ACME
    ),
    "load": Shell(lambda world: (str(world.spool / "load.txt"), *_AT_ACME), scope=ACME),
    "episode-type list": Shell(),
    "episode-type show": Shell(lambda world: ("doc",)),
    "index status": Shell(lambda world: _AT_ACME, scope=ACME),
    "index verify": Shell(scope=ACME),
    "index rebuild": Shell(scope=ACME),
    "catalog recover": Shell(scope=ACME),
    "ledger head": Shell(scope=ACME),
    "ledger verify": Shell(scope=ACME),
    "ledger log": Shell(lambda world: _AT_ACME, scope=ACME),
    "serve": Shell(elsewhere="tests/ampup_site/test_serve.py"),
    "worker": Shell(elsewhere="tests/journeys/test_worker_redis.py"),
}

SHELL_IDS: Final[Mapping[str, tuple[str, ...]]] = {
    "episode get": (),
    "episode forget": (),
    "episode acl": ("--set", "*", "--expected", "*"),
}
"""Commands that take an episode's id, and what else they must be told."""
