"""Rights hold as they are now, and a row that is hidden moves no byte of an answer."""

import base64
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from accounts.domain.caller import local_caller
from accounts.domain.roles import Role
from accounts.models import ApiKey
from accounts.services import keys
from ampup_site.kernel.clock import Micros
from memory.search.rows import ROW_BITS
from memory.services import episodes
from tests.accounts.builders import NOON, an_org
from tests.builders import episode
from tests.leaks.calling import Answer, Call, calls
from tests.leaks.entries import Ask
from tests.leaks.world import ACME, SHARED, Who, World, make_key, scope_of

READS = {
    "POST /search": ({"query": SHARED}, {"query": SHARED, "format": "text"}),
    "POST /query": (
        {"find": "passages", "text": SHARED},
        {"find": "episodes", "k": 200},
        {"find": "episodes", "k": 1},
        {"find": "episodes", "k": 1, "order": "oldest"},
    ),
    "search_memory": ({"query": SHARED}, {"query": SHARED, "format": "json"}),
}
FOUND = tuple(call for call in calls() if call.name in READS)
OPENED = tuple(
    call for call in calls() if call.name in {"GET /episodes/{episode_id}", "get_episode"}
)


@pytest.fixture
def member(world: World) -> Iterator[Who]:
    """A person of the board, for as long as a test lets them be one."""
    text, public_id = make_key(Role.PERSONAL, ACME, person="mia", groups=("board",))
    who = Who("member", Role.PERSONAL, ACME, text, frozenset({"*", "group:board", "user:mia"}))
    yield who
    keys.revoke_key(local_caller(), public_id, clock=world.engine.clock)


def of_key(who: Who) -> str:
    assert who.key is not None
    return who.key.split("_")[1]


def everything(who: Who, ids: Sequence[str]) -> list[Answer]:
    """Return the answers of every read on every surface."""
    answers = [call.send(who, Ask(body=body)) for call in FOUND for body in READS[call.name]]
    return answers + [opened(call, who, identity) for call in OPENED for identity in ids]


def opened(call: Call, who: Who, identity: str) -> Answer:
    assert call.entry.by_id is not None
    return call.send(who, call.entry.by_id[1](identity))


def test_a_changed_group_acts_on_the_next_request(world: World, member: Who) -> None:
    """Documented: nothing is kept of who somebody was; sight goes and comes back."""
    hidden = next(one for one in world.canaries if one.name == "acl")
    ids = (hidden.episode_id,)
    row = ApiKey.objects.filter(public_id=of_key(member))
    before = everything(member, ids)
    assert sum(hidden.mark in answer.body for answer in before) >= len(FOUND) + len(OPENED)
    row.update(groups=[])
    assert not any(hidden.mark in answer.body for answer in everything(member, ids))
    row.update(groups=["board"])
    assert everything(member, ids) == before


def test_a_revoked_key_is_nobody_on_the_next_request(world: World, member: Who) -> None:
    """Documented: on every surface at once."""
    sample = world.visible[ACME]
    assert all(answer.code is None for answer in everything(member, (sample,)))
    keys.revoke_key(local_caller(), of_key(member), clock=world.engine.clock)
    answers = everything(member, (sample,))
    assert {(answer.status, answer.code) for answer in answers} == {(401, "unauthenticated")}


def test_two_callers_in_either_order_are_told_the_same(world: World) -> None:
    """Documented: no answer is kept for one and given to another."""
    director, person = world.who("director"), world.who("person")
    stranger = world.who("other org's reader")
    ids = [canary.episode_id for canary in world.canaries]
    there = [everything(who, ids) for who in (director, person, stranger)]
    back = [everything(who, ids) for who in (stranger, person, director)]
    assert there == back[::-1]
    assert len({str(answers) for answers in there}) == 3


@dataclass(frozen=True, slots=True)
class Twin:
    """An org that holds what its twin holds, and rows that its callers may not see."""

    name: str
    callers: tuple[Who, ...]
    shown: tuple[str, ...]


@pytest.fixture(scope="module")
def twins(world: World) -> tuple[Twin, Twin]:
    return _twin(world, "plain", hides=False), _twin(world, "veiled", hides=True)


def _twin(world: World, name: str, *, hides: bool) -> Twin:
    home = an_org(name)
    callers = []
    for role, person in ((Role.READER, None), (Role.PERSONAL, f"pia_{name}"), (Role.ADMIN, None)):
        named = {} if person is None else {"person": person}
        text, _ = make_key(role, f"org:{name}", **named)
        callers.append(Who(role.value, role, f"org:{name}", text))
    shown = []
    for n in range(4):
        if hides:
            _hide(world, home, n)
        body = f"{SHARED}, part {n}: the {'old ' * n}ferry sails."
        shown.append(_landed(world, home, body, NOON + n))
    if hides:
        _hide(world, home, 9)
    return Twin(name, tuple(callers), tuple(shown))


def _hide(world: World, home: str, n: int) -> None:
    """Put in rows that rank high and are alike in time: one unreadable, narrowed and forgotten."""
    where, owner = scope_of(f"org:{home}"), local_caller()
    _landed(world, home, f"{SHARED} {SHARED} hidden {n}", NOON + n, acl=("group:board",))
    narrowed = _landed(world, home, f"{SHARED} {SHARED} narrowed {n}", NOON + n)
    episodes.amend_acl(
        world.engine, owner, where, narrowed, acl=("group:board",), expected=("*",)
    ).wait()
    gone = _landed(world, home, f"{SHARED} {SHARED} gone {n}", NOON + n)
    episodes.forget(world.engine, owner, where, gone).wait()


def _landed(world: World, home: str, body: str, moment: int, **fields: object) -> str:
    draft = episode(body, occurred_at=Micros(moment), **fields)
    pending = episodes.ingest(world.engine, local_caller(), scope_of(f"org:{home}"), [draft])
    return pending.wait().episodes[0].episode_id


def of_one_moment(answer: Answer) -> str:
    """Return an answer without when its rows were stored."""
    return re.sub(r'("recorded_at"):\s*\d+', r"\1:0", answer.whole)


def test_a_hidden_row_changes_no_byte_of_any_answer(world: World, twins: tuple[Twin, Twin]) -> None:
    """Documented: not membership, score, count, page or cursor."""
    plain, veiled = twins
    assert plain.shown == veiled.shown
    for one, other in zip(plain.callers, veiled.callers, strict=True):
        told = [[of_one_moment(x) for x in everything(who, plain.shown)] for who in (one, other)]
        assert told[0] == told[1]


def test_pages_go_on_alike_over_hidden_rows(world: World, twins: tuple[Twin, Twin]) -> None:
    """Documented: cursors say nothing of rows that are not shown, and no global number."""
    call = next(call for call in FOUND if call.name == "POST /query")
    walks = []
    for twin in twins:
        cursor, pages = None, []
        while True:
            body = {"find": "episodes", "k": 1, **({"cursor": cursor} if cursor else {})}
            page = call.send(twin.callers[0], Ask(body=body)).json()
            pages.append((page["results"][0]["episode_id"], page["next_cursor"]))
            cursor = page["next_cursor"]
            if cursor is None:
                break
        walks.append(pages)
    assert walks[0] == walks[1]
    assert [identity for identity, _ in walks[0]] == list(reversed(twins[0].shown))


def test_counts_of_the_index_stop_at_the_callers_org(
    world: World, twins: tuple[Twin, Twin]
) -> None:
    """Documented: an org's administrator is told nothing of what another org writes."""
    call = next(call for call in calls() if call.name == "GET /index/status")
    admin = twins[0].callers[2]
    before = call.send(admin, Ask())
    assert before.json()["applied"].startswith("c_")
    _landed(world, "veiled", f"{SHARED} later", NOON)
    assert call.send(admin, Ask()) == before
    _landed(world, "plain", f"{SHARED} later", NOON)
    assert call.send(admin, Ask()).json()["applied"] != before.json()["applied"]


def test_a_caller_is_told_of_no_scope_that_it_cannot_use(world: World) -> None:
    """Ours: who asks who it is names its own scopes, whatever it asks from."""
    call = next(call for call in calls() if call.name == "GET /whoami")
    team = world.who("team reader")
    for query in ("", "?team=ops", "?team=nowhere"):
        answer = call.send(team, Ask(), query=query).json()
        assert answer.get("scopes") in ([team.home], None)


def test_one_callers_idempotency_key_is_not_anothers(world: World) -> None:
    """Documented: a kept answer belongs to the key that asked for it, in the scope it named."""
    call = next(call for call in calls() if call.name == "POST /remember")
    ask = Ask(body={"source": "acme", "body": "one text of two writers"})
    named = {"idempotency-key": "the-same-for-both"}
    first = call.send(world.who("service"), ask, **named).json()
    for name in ("person", "ingest", "other org's ingest"):
        other = call.send(world.who(name), ask, **named).json()
        assert other["created"] is True
        assert other["episode_id"] != first["episode_id"]
        assert other["commit"] != first["commit"]
    assert call.send(world.who("service"), ask, **named).json() == first
    assert call.send(world.who("reader"), ask, **named).code == "forbidden"


def test_a_cursor_holds_no_place_in_the_ledger(world: World) -> None:
    """Documented: `seq` is for administrators alone."""
    call = next(call for call in FOUND if call.name == "POST /query")
    page = call.send(world.who("reader"), Ask(body={"find": "episodes", "k": 1})).json()
    packed = base64.urlsafe_b64decode(page["next_cursor"] + "==")
    seqs = range(1, world.engine.warehouse.ledger_seq() + 1)
    numbers = {struct.unpack_from(">q", packed, at)[0] for at in range(len(packed) - 7)}
    assert not any(number >> ROW_BITS in seqs for number in numbers if number != NOON)
