"""What a search puts first."""

from datetime import timedelta

import pytest

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from ampup_site.kernel.clock import Micros
from memory.domain.times import EPOCH
from memory.engine import Engine
from memory.services.episodes import ingest
from memory.services.search import PassageHit, PassageQuery, asked_window, find_passages
from tests.builders import episode

_DAY = 86_400 * 10**6


def found(engine: Engine, caller: Caller, scope: Scope, text: str, **fields: object) -> list[str]:
    hits = find_passages(engine, caller, scope, PassageQuery(text, **fields))  # type: ignore[arg-type]
    return [hit.source for hit in hits]


def _ago(engine: Engine, days: int) -> Micros:
    return Micros(engine.clock.now() - days * _DAY)


def test_what_occurred_in_the_time_that_a_query_names_comes_first(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: a query that names a time ranks what was stated in that window first."""
    old = "The renewal price, the renewal price: forty."
    drafts = [
        episode(old, source="note:old", occurred_at=_ago(engine, 400)),
        episode("The renewal price is fifty.", source="note:new", occurred_at=_ago(engine, 1)),
        episode("Lunch was late.", source="note:lunch", occurred_at=_ago(engine, 1)),
    ]
    ingest(engine, owner, org, drafts).wait()
    assert found(engine, owner, org, "renewal price")[0] == "note:old"
    assert found(engine, owner, org, "renewal price yesterday")[:2] == ["note:new", "note:old"]
    window = asked_window(engine, owner, "renewal price yesterday")
    assert window is not None
    assert timedelta(microseconds=window.end - window.start) == timedelta(days=1)
    assert EPOCH + timedelta(microseconds=window.end) <= EPOCH + timedelta(
        microseconds=engine.clock.now()
    )


def test_what_stands_beside_an_answer_in_a_thread_is_found_with_it(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: neighbouring turns as a field, also across the episodes of a thread."""
    at = _ago(engine, 3)
    turns = ["Ann: Where is the offsite?", "Bo: Lisbon, I think.", "Cy: I like it."]
    drafts = [
        episode(body, source=f"slack:C1:{n}", occurred_at=Micros(at + n), acl=("*",))
        for n, body in enumerate(turns)
    ]
    drafts.append(episode("Bo: Lisbon is sunny.", source="slack:C2:9", occurred_at=at))
    ingest(engine, owner, org, drafts).wait()
    ranked = found(engine, owner, org, "offsite")
    assert ranked == ["slack:C1:0", "slack:C1:1", "slack:C1:2"]
    assert found(engine, owner, org, "offsite", order="newest") == ["slack:C1:0"]


def test_a_name_of_who_speaks_a_title_and_a_document_are_found(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: speaker, title and document name as fields."""
    long = "It goes on. " * 200
    drafts = [
        episode(f"# Falcon plan\n\n{long}", source="note:plan", document="plans/atlas.md"),
        episode(f"Quincy: {long}", source="meeting:m1"),
    ]
    ingest(engine, owner, org, drafts).wait()
    for word, source in (("falcon", "note:plan"), ("atlas", "note:plan"), ("quincy", "meeting:m1")):
        hits = find_passages(engine, owner, org, PassageQuery(word, explain=True))
        assert len(hits) > 1
        assert {hit.source for hit in hits} == {source}
        assert all("names" in _fields(hit) for hit in hits)


def _fields(hit: PassageHit) -> tuple[str, ...]:
    assert hit.explained is not None
    return hit.explained.fields


@pytest.mark.parametrize("query", ["is the", "to", "who?", "!!!", "?", "a"])
def test_a_query_of_small_words_is_answered_like_any_other(
    engine: Engine, owner: Caller, org: Scope, query: str
) -> None:
    """Documented: stop words only as weight, never as loss."""
    ingest(engine, owner, org, [episode("To be is the question of who is a man.")]).wait()
    expected = [] if query in {"!!!", "?"} else ["note:acme"]
    assert found(engine, owner, org, query) == expected


def test_an_identifier_comes_before_everything_that_is_like_it(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: near-misses are never above the exact one."""
    drafts = [
        episode(f"Ticket {name}: the login page is slow again for some users.", source=f"note:{n}")
        for n, name in enumerate(
            ["OPS-118", "OPS-1181", "OPS-1181a", "OPS 1181", "OPS-11810", "XOPS-1181"]
        )
    ]
    ingest(engine, owner, org, drafts).wait()
    for n, name in ((0, "OPS-118"), (1, "OPS-1181"), (1, "ops-1181"), (2, "OPS-1181a")):
        assert found(engine, owner, org, f"what about {name}?")[0] == f"note:{n}", name
        assert found(engine, owner, org, name)[0] == f"note:{n}", name
