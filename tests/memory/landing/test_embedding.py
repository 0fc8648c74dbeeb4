"""Passages get their vectors after they have landed, and are found by meaning from then on."""

from collections.abc import Iterator
from dataclasses import replace
from time import monotonic, sleep

import pytest

from accounts.domain.caller import Caller
from accounts.domain.scope import Scope
from memory.embedding.embedder import EmbedderFailed
from memory.embedding.meaning import Meaning
from memory.engine import Engine
from memory.landing.embedding import EmbeddingFollower, embed_some
from memory.landing.mover import step
from memory.search.episodes import EpisodeFilters
from memory.services import indexing
from memory.services.episodes import amend_acl, forget, remember
from memory.services.search import Explained, PassageHit, PassageQuery, find_passages
from tests.builders import note, reader
from tests.memory.embedding.fakes import Ideas
from tests.memory.embedding.test_meaning import Broken


@pytest.fixture
def embedder() -> Ideas:
    return Ideas()


@pytest.fixture
def meant(engine: Engine, embedder: Ideas) -> Iterator[Engine]:
    """The engine with an embedder of ideas."""
    meaning = Meaning(embedder)
    yield replace(engine, meaning=meaning)
    meaning.close()


def embed_all(engine: Engine) -> None:
    assert engine.meaning is not None
    with engine.index.connect(application="test") as connection:
        while embed_some(connection, engine.meaning):
            pass


def found(engine: Engine, caller: Caller, scope: Scope, text: str) -> list[PassageHit]:
    return list(find_passages(engine, caller, scope, PassageQuery(text, explain=True)))


def waiting(engine: Engine, caller: Caller, scope: Scope) -> int:
    counts = indexing.status(engine, caller, scope).counts
    assert counts is not None
    return counts.unembedded


def test_what_shares_no_word_is_found_by_meaning(
    meant: Engine, owner: Caller, org: Scope, embedder: Ideas
) -> None:
    """Documented: keyword at once, meaning as soon as the vector is there."""
    for body in ("The puppy slept.", "We booked a flight.", "Rain all day."):
        remember(meant, owner, org, note(body)).wait()
    assert found(meant, owner, org, "Which pet is it?") == []
    assert waiting(meant, owner, org) == 3
    embed_all(meant)
    assert waiting(meant, owner, org) == 0
    best = found(meant, owner, org, "Which pet is it?")[0]
    assert best.text == "The puppy slept."
    assert best.explained == Explained(keyword=0, meaning=1, fields=())
    asked = len(embedder.asked)
    embed_all(meant)
    assert len(embedder.asked) == asked, "nothing is embedded twice"


def test_vectors_are_searched_in_the_tail_and_under_the_graph(
    meant: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: the exact tail and HNSW; here the same answers from both."""
    for body in ("The puppy slept.", "We booked a flight.", "Rain all day."):
        remember(meant, owner, org, note(body)).wait()
    embed_all(meant)
    before = found(meant, owner, org, "Where is the airport?")
    with meant.index.connect(application="test") as connection:
        step(connection, clock=meant.clock)
    assert found(meant, owner, org, "Where is the airport?") == before
    assert indexing.verify(meant).clean


def test_a_hidden_or_forgotten_passage_is_not_near_to_anything(
    meant: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: a row the caller may not see changes no answer."""
    remember(meant, owner, org, note("A dog in the garden.")).wait()
    embed_all(meant)
    stranger = reader("ann")
    alone = found(meant, stranger, org, "any pet")
    hidden = remember(meant, owner, org, note("The puppy dog pet.", acl=("user:bo",))).wait()
    gone = remember(meant, owner, org, note("Another puppy dog pet.")).wait()
    embed_all(meant)
    forget(meant, owner, org, gone.episode_id, reason=None).wait()
    assert found(meant, stranger, org, "any pet") == alone
    assert len(found(meant, reader("bo"), org, "any pet")) == 2
    amend_acl(meant, owner, org, hidden.episode_id, acl=["user:cy"], expected=["user:bo"]).wait()
    assert found(meant, reader("bo"), org, "any pet") == alone
    assert len(found(meant, reader("cy"), org, "any pet")) == 2


def test_a_filter_and_a_window_find_by_meaning_among_their_own(
    meant: Engine, owner: Caller, org: Scope
) -> None:
    """Ours: what is nearest overall does not crowd out what a filter lets through."""
    puppies = [note(f"The puppy dog number {n}.") for n in range(5)]
    for one in (*puppies, note("A kennel.", tags=("wanted",))):
        remember(meant, owner, org, one).wait()
    embed_all(meant)
    asked = PassageQuery("any pet", filters=EpisodeFilters(tags=("wanted",)))
    hits = find_passages(meant, owner, org, asked)
    assert [hit.text for hit in hits] == ["A kennel."]
    assert len(found(meant, owner, org, "any pet today")) == 6
    assert len(found(meant, owner, org, "any pet since 2020")) == 6


def test_a_rebuild_computes_no_vector_again(
    meant: Engine, owner: Caller, org: Scope, embedder: Ideas
) -> None:
    """Documented: a rebuild computes nothing twice, and every answer is as before."""
    for body in ("The puppy slept.", "We booked a flight."):
        remember(meant, owner, org, note(body)).wait()
    embed_all(meant)
    before = found(meant, owner, org, "Which pet is it?")
    asked = list(embedder.asked)
    indexing.rebuild(meant)
    embed_all(meant)
    assert found(meant, owner, org, "Which pet is it?") == before
    assert embedder.asked == [*asked, "Which pet is it?"]
    assert indexing.verify(meant).clean


def test_another_embedder_begins_at_the_start_and_keyword_serves_meanwhile(
    meant: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: a change of the embedder is built beside."""
    remember(meant, owner, org, note("The puppy slept.")).wait()
    embed_all(meant)

    class Other(Ideas):
        fingerprint = "ideas-2"

    other = replace(meant, meaning=Meaning(Other()))
    assert waiting(other, owner, org) == 1
    assert [hit.text for hit in found(other, owner, org, "puppy")] == ["The puppy slept."]
    embed_all(other)
    assert found(other, owner, org, "any pet")[0].text == "The puppy slept."


def test_an_embedder_that_fails_costs_no_write_and_no_keyword_answer(
    engine: Engine, owner: Caller, org: Scope
) -> None:
    """Documented: raising, hanging or wrong-width costs meaning alone."""
    broken = replace(engine, meaning=Meaning(Broken(EmbedderFailed("It is away."))))
    assert remember(broken, owner, org, note("The puppy slept.")).wait().created
    with pytest.raises(EmbedderFailed):
        embed_all(broken)
    assert [hit.text for hit in found(broken, owner, org, "puppy")] == ["The puppy slept."]
    assert waiting(broken, owner, org) == 1


def test_a_follower_embeds_what_lands(meant: Engine, owner: Caller, org: Scope) -> None:
    """Ours: a server's thread, woken by the landing; a second one leaves it alone."""
    assert meant.meaning is not None
    followers = [
        EmbeddingFollower(index=meant.index, warehouse=meant.warehouse, meaning=meant.meaning)
        for _ in range(2)
    ]
    for follower in followers:
        follower.start()
    try:
        remember(meant, owner, org, note("The puppy slept.")).wait()
        end = monotonic() + 30
        while waiting(meant, owner, org):
            assert monotonic() < end
            sleep(0.05)
        assert found(meant, owner, org, "any pet")[0].text == "The puppy slept."
    finally:
        for follower in followers:
            follower.close()
