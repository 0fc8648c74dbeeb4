"""Every surface and every caller: served or refused as the rights say, and told nothing more."""

from collections.abc import Iterator

import pytest

from accounts.domain.roles import Role
from tests.leaks.calling import Answer, Call, calls
from tests.leaks.entries import Ask, Kind
from tests.leaks.world import (
    MISSING_ID,
    MISSING_JOB,
    MISSING_KEY,
    Who,
    World,
)

EVERY_CALL = tuple(calls())
BY_ID = tuple(call for call in EVERY_CALL if call.entry.by_id is not None)
SCOPED = tuple(call for call in EVERY_CALL if call.entry.scoped)
MISSING = {Kind.EPISODE: MISSING_ID, Kind.JOB: MISSING_JOB, Kind.KEY: MISSING_KEY}


def named(call: Call) -> str:
    return str(call)


def told(world: World, who: Who, answer: Answer, since: int) -> list[str]:
    """Return the secrets that an answer, or a line that was logged for it, gives away."""
    leaks = [secret for secret in world.secrets(who) if secret in answer.whole]
    for line in world.lines[since:]:
        marks = [canary.mark for canary in world.canaries if canary.mark in line]
        keys = [held.name for held in world.callers if held.key and held.key in line]
        leaks += [f"{found} in the log: {line}" for found in (*marks, *keys)]
    return leaks


def verdict(call: Call, who: Who, answer: Answer) -> str | None:
    """Return what is wrong with how a caller was let in or refused, None if nothing is."""
    expected: tuple[int, str | int | None]
    if call.entry.lets_in(who):
        if call.entry.faulty is not None:
            status = 400 if call.era == "modern" else 200
            expected = (status, call.entry.faulty)
        else:
            made = call.name in {"POST /orgs", "POST /teams", "POST /keys"}
            expected = (201 if made else 200, None)
    elif who.role is None:
        expected = (401, "unauthenticated")
    elif call.is_tool:
        expected = (400 if call.era == "modern" else 200, -32602)
    else:
        expected = (403, "forbidden")
    found = (answer.status, answer.code)
    return None if found == expected else f"{who.name}: {found} and not {expected}"


@pytest.mark.parametrize("call", EVERY_CALL, ids=named)
def test_each_caller_is_served_or_refused_as_the_rights_table_says(
    world: World, call: Call
) -> None:
    """Documented: specification, section 4; what is hidden is in no part of any answer or log."""
    wrong = []
    for who in world.callers:
        since = len(world.lines)
        answer = call.send(who, call.entry.own(world, who))
        wrong += [fault] if (fault := verdict(call, who, answer)) else []
        wrong += [f"{who.name} is told {leak}" for leak in told(world, who, answer, since)]
        if "cache-control: no-store" not in answer.head.lower():
            wrong.append(f"{who.name}'s answer may be kept by a cache")
    assert wrong == []


def foreign(world: World, who: Who, kind: Kind) -> Iterator[str]:
    """Return ids of things that are there and not for this caller."""
    if kind is Kind.EPISODE:
        yield from (canary.episode_id for canary in world.hidden_from(who))
    elif kind is Kind.JOB:
        yield from (job for name, job in world.jobs_of.items() if not may_see(world, who, name))
    else:
        yield from (public_id for _, public_id in world.foreign_keys(who))


def repeats(world: World, call: Call, who: Who, identity: str) -> bool:
    """Tell whether this is an administrator's forgetting again, which names who did it first."""
    forgotten = next(canary for canary in world.canaries if canary.name == "forgotten")
    again = call.name.startswith("DELETE") and identity == forgotten.episode_id
    return again and who.home == forgotten.scope and who.role is Role.ADMIN


def may_see(world: World, who: Who, starter: str) -> bool:
    same = world.who(starter).home == who.home
    return same and (who.name == starter or who.role is Role.ADMIN)


@pytest.mark.parametrize("call", BY_ID, ids=named)
def test_what_is_anothers_is_answered_like_what_is_not_there(world: World, call: Call) -> None:
    """Documented: unreadable and missing are one answer, to the byte, for every kind of id."""
    assert call.entry.by_id is not None
    kind, ask = call.entry.by_id
    wrong = []
    asked = 0
    for who in world.callers:
        missing = call.send(who, ask(MISSING[kind]))
        if call.entry.lets_in(who):
            assert missing.code == "not_found", (who.name, missing)
        ids = list(foreign(world, who, kind))
        for identity in ids if call.entry.lets_in(who) else ids[:1]:
            if repeats(world, call, who, identity):
                continue
            since = len(world.lines)
            answer = call.send(who, ask(identity))
            asked += 1
            if answer != missing:
                wrong.append(f"{who.name}: {answer} and not {missing}")
            wrong += [f"{who.name} is told {x}" for x in told(world, who, answer, since)]
    assert wrong == []
    assert asked > 20


@pytest.mark.parametrize("call", SCOPED, ids=named)
def test_what_is_another_scope_is_answered_like_a_scope_that_is_not_there(
    world: World, call: Call
) -> None:
    """Documented: whether a foreign org, team or person exists is told to nobody."""
    wrong = []
    for who in world.callers:
        if who.role is None:
            continue
        ask = call.entry.own(world, who)
        places = list(addresses(who))
        for there, not_there in places if call.entry.lets_in(who) else places[:1]:
            since = len(world.lines)
            answers = [
                call.send(who, ask, query=query, **headers)
                for query, headers in (address(there), address(not_there))
            ]
            plain = [
                Answer(one.status, one.head, one.body.replace(f"acme/{place[1]}", "..."))
                for one, place in zip(answers, (there, not_there), strict=True)
            ]
            if plain[0] != plain[1]:
                wrong.append(f"{who.name}, {there}: {plain}")
            for answer in answers:
                wrong += [f"{who.name} is told {x}" for x in told(world, who, answer, since)]
    assert wrong == []


def addresses(who: Who) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Return places that the caller has no part in: one that is there, and one that is not."""
    if not who.everywhere:
        foreign_org = "acme" if who.org == "other" else "other"
        for how in ("org", "x-memstore-org"):
            yield (how, foreign_org), (how, "nowhere")
        yield ("scope", f"org:{foreign_org}"), ("scope", "org:nowhere")
        if who.org == "other":
            yield ("scope", "team:acme/sales"), ("scope", "team:acme/nowhere")
    if who.team is not None:
        another = "ops" if who.team == "sales" else "sales"
        yield ("team", another), ("team", "nowhere")
    yield ("scope", "user:priya"), ("scope", "user:nowhere")


def address(place: tuple[str, str]) -> tuple[str, dict[str, str]]:
    how, name = place
    return ("", {how: name}) if how.startswith("x-") else (f"?{how}={name}", {})


LOOKING = (
    "reader",
    "person",
    "admin",
    "director",
    "team reader",
    "other team's service",
    "other org's reader",
    "whole server's service",
)
"""One caller for each thing that decides what may be seen; roles do not."""

LOOKED_FOR = ("POST /search", "POST /query", "search_memory")


@pytest.mark.parametrize(
    "call", [call for call in EVERY_CALL if call.name in LOOKED_FOR], ids=named
)
def test_what_is_hidden_is_found_by_those_alone_who_may_see_it(world: World, call: Call) -> None:
    """Documented: no word, source, tag, subject or time finds a hidden text, nor counts it."""
    wrong = []
    seen = 0
    for who in (world.who(name) for name in LOOKING):
        assert call.entry.lets_in(who)
        for canary in world.canaries:
            for ask in looks(call, canary.alias, canary.mark):
                since = len(world.lines)
                answer = call.send(who, ask)
                if canary.hidden_from(who):
                    leaks = told(world, who, answer, since)
                    wrong += [f"{who.name}, {canary.name}: {leak}" for leak in leaks]
                    if count(answer) != 0:
                        wrong.append(f"{who.name} finds {canary.name} by {ask.body}: {answer}")
                else:
                    seen += canary.mark in answer.body
    assert wrong == []
    assert seen > 0


def looks(call: Call, alias: str, mark: str) -> Iterator[Ask]:
    """Return what looks for one text alone: by a word of it, and by each filter there is."""
    if call.name == "POST /query":
        yield Ask(body={"find": "passages", "text": alias})
        yield Ask(body={"find": "passages", "text": "ferry", "source": f"note:{mark}"})
        yield Ask(body={"find": "episodes", "tags": [mark]})
        yield Ask(body={"find": "episodes", "about": f"account:{mark}"})
        return
    yield Ask(body={"query": alias, "format": "json"})
    yield Ask(body={"query": "ferry", "tags": [mark], "format": "json"})


def count(answer: Answer) -> int:
    value = answer.json()
    if "result" in value:
        value = value["result"]["structuredContent"]
    return len(value["results"] if "results" in value else value["passages"] + value["episodes"])


@pytest.mark.parametrize("insider", ["director", "team reader", "other org's reader"])
def test_what_is_hidden_is_there_for_those_who_may_see_it(world: World, insider: str) -> None:
    """Ours: the matrix would find nothing if there were nothing to find."""
    who = world.who(insider)
    shown = [canary for canary in world.canaries if not canary.hidden_from(who)]
    assert shown
    for call in EVERY_CALL:
        if call.name in {"GET /episodes/{episode_id}", "get_episode"}:
            assert call.entry.by_id is not None
            for canary in shown:
                answer = call.send(who, call.entry.by_id[1](canary.episode_id))
                assert canary.mark in answer.body
