"""REST: Idempotency-Key."""

import asyncio

import pytest

from memory.engine import Engine
from memory.models import IdempotencyRow
from memory.services.idempotency import (
    Claim,
    IdempotencyMismatch,
    KeptAnswer,
    claim_key,
    keep_answer,
)
from tests.accounts.builders import HOUR, FixedClock
from tests.memory.api.rest import EPISODE, NOTE, Rest

KEY = "idempotency-key"


def test_the_same_request_under_a_key_is_answered_to_the_letter(priya: Rest, sam: Rest) -> None:
    """Documented: a key stands for one request of one caller, for 24 hours."""
    first = priya.done("POST", "/remember", NOTE, **{KEY: "k-1"})
    assert first["created"] is True
    assert priya.done("POST", "/remember/", NOTE, **{KEY: "k-1"}) == first
    assert priya.done("POST", "/remember", NOTE)["created"] is False
    other = {**NOTE, "body": "Something else."}
    mismatch = (422, "idempotency_mismatch", KEY)
    assert priya.refusal("POST", "/remember", other, **{KEY: "k-1"}) == mismatch
    assert priya.refusal("POST", "/remember?scope=mine", NOTE, **{KEY: "k-1"}) == mismatch
    gone = priya.done("DELETE", f"/episodes/{first['episode_id']}")
    assert gone["forgotten"] is True
    assert sam.done("POST", "/remember", NOTE, **{KEY: "k-1"})["source"].endswith("sam:acme")


def test_a_refused_request_gives_its_key_back(local: Rest) -> None:
    """Ours: the mended request may be sent under the same key."""
    empty = {**NOTE, "body": " "}
    assert local.refusal("POST", "/remember", empty, **{KEY: "k"}) == (400, "bad_request", "body")
    kept = local.done("POST", "/remember", NOTE, **{KEY: "k"})
    path = f"/episodes/{kept['episode_id']}/acl"
    stale = {"acl": ["user:x"], "expected": ["user:y"]}
    assert local.refusal("PUT", path, stale, **{KEY: "a"})[1] == "acl_changed"
    assert local.done("PUT", path, {**stale, "expected": ["*"]}, **{KEY: "a"})["acl"] == ["user:x"]


def test_a_key_given_back_meanwhile_holds_up_nobody(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: the claimant before was refused between our two statements; it was a 500."""
    monkeypatch.setattr(IdempotencyRow.objects, "bulk_create", lambda *_, **__: [])
    claim = Claim(owner="local", key="k", digest="0" * 64)
    assert claim_key(claim, clock=engine.clock) is None


def test_twenty_at_once_under_one_key_are_one_episode(local: Rest) -> None:
    """Regression: parallel retries are one write (case 22)."""

    async def all_at_once() -> list[dict[str, object]]:
        sends = [
            local.sending("POST", "/episodes", json=[EPISODE], headers={KEY: "same"})
            for _ in range(20)
        ]
        return [answer.json() for answer in await asyncio.gather(*sends)]

    answers = asyncio.run(all_at_once())
    ids = {answer["episodes"][0]["episode_id"] for answer in answers}  # type: ignore[index]
    assert len(ids) == 1
    assert len({answer["commit"] for answer in answers}) == 1
    assert len(local.done("POST", "/query", {"find": "episodes"})["results"]) == 1


def test_a_key_is_free_again_after_a_day(engine: Engine) -> None:
    """Documented: 24 hours; until then another request is refused, whoever else uses the text."""
    clock = FixedClock()
    first, other = (Claim(owner="local", key="k", digest=digit * 64) for digit in "12")
    assert claim_key(first, clock=clock) is None
    keep_answer(first, KeptAnswer(200, "{}"))
    clock.forward(24 * HOUR - 1)
    assert claim_key(first, clock=clock) == KeptAnswer(200, "{}")
    with pytest.raises(IdempotencyMismatch):
        claim_key(other, clock=clock)
    assert claim_key(Claim(owner="someone", key="k", digest="2" * 64), clock=clock) is None
    clock.forward(1)
    assert claim_key(other, clock=clock) is None


def test_a_key_that_is_none_is_refused(local: Rest) -> None:
    """Ours: printable ASCII, at most 255."""
    for key in ("", "a b", "x" * 256):
        assert local.refusal("POST", "/remember", NOTE, **{KEY: key}) == (400, "bad_request", KEY)
