"""Faults seen elsewhere that text and the shape of requests can cause, on every surface."""

import random

import pytest
from pytest_django import Settings

from ampup_site.settings import base
from tests.leaks.entries import ROUTES
from tests.leaks.surfaces import filled
from tests.mcp_gateway.wire import Wire
from tests.memory.api.rest import EPISODE, Rest
from tests.wire.conftest import Shell

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
FLAG = "\U0001f1e9\U0001f1ea"
CUT = 1_500


@pytest.mark.parametrize("mark", [FAMILY, FLAG, "e\u0301", "\u0e19\u0e49\u0e33"])
@pytest.mark.parametrize("short", [-3, -1, 0, 1, 2])
def test_a_character_on_the_place_of_a_cut_stays_whole(
    priya: Rest, agent: Wire, mark: str, short: int
) -> None:
    """Regression: passages put together are the body, and no surface shows half of one (case 8)."""
    body = "ferry " + "a" * (CUT - 6 + short) + mark + " b" * CUT
    identity = priya.remember(body)
    passages = priya.passages("ferry b", k=200)
    assert "".join(sorted(passages, key=body.index)) == body
    assert any(mark in passage for passage in passages)
    for room in (CUT - 1, CUT, CUT + 1, CUT + 20):
        opened = agent.call("get_episode", {"episode_id": identity, "max_chars": room})
        shown = opened["structuredContent"]["units"][0]["text"].removesuffix("…")
        assert body.startswith(shown)
        assert shown.endswith(mark) or mark not in shown
        rest = body[len(shown) :]
        assert not rest.startswith(("\u200d", "\u0301")), "cut inside of a character"


def test_the_same_text_comes_from_every_surface(priya: Rest, agent: Wire, shell: Shell) -> None:
    """Regression: emoji, CJK and combining marks come back alike from all of them (case 5)."""
    body = f"ferry {FAMILY} 日本語 e\u0301 \u202eevil <img src=x onerror=alert(1)>"
    identity = priya.remember(body)
    read = priya.done("GET", f"/episodes/{identity}")
    opened = agent.call("get_episode", {"episode_id": identity})["structuredContent"]
    found = agent.call("search_memory", {"query": "ferry"}, era="modern")["structuredContent"]
    texts = {
        read["body"],
        read["units"][0]["text"],
        priya.passages("ferry")[0],
        opened["units"][0]["text"],
        found["passages"][0]["text"],
        shell("episode", "get", identity)["body"],
        shell("search", "ferry")["passages"][0]["text"],
    }
    assert texts == {body}


def test_two_hundred_kilobytes_are_kept_and_found_in_any_script(service: Rest) -> None:
    """Regression: no length of a note, word or line refuses it (case 16)."""
    random.seed(16)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/"
    bodies = {
        "english": "firstword " + "the ferry sails again " * 9_000 + "lastword",
        "cjk": "始發 " + "渡輪明天再開。" * 9_000 + " 末班",
        "base64": "headword " + "".join(random.choices(letters, k=200_000)) + " tailword",  # noqa: S311
    }
    for name, body in bodies.items():
        draft = {**EPISODE, "source": f"doc:{name}", "body": body}
        stored = service.done("POST", "/episodes", {"episodes": [draft]})["episodes"][0]
        assert service.done("GET", f"/episodes/{stored['episode_id']}")["body"] == body
        for word in (body.split()[0], body.split()[-1]):
            assert any(word in text for text in service.passages(word, source=f"doc:{name}")), word


def test_deep_nesting_is_refused_by_every_route_and_the_next_request_works(
    priya: Rest, agent: Wire
) -> None:
    """Regression: 4xx in JSON and at once, whatever route takes a body (case 19)."""
    deep = "[" * 20_000
    for name in ROUTES:
        method = name.partition(" ")[0]
        if method not in {"POST", "PUT"}:
            continue
        path = filled(name, episode_id="0" * 64)
        for body in (deep, deep + "]" * 20_000, '{"a":' * 20_000):
            status, answer = priya.call(method, path, body)
            assert 400 <= status < 500, (name, status)
            assert answer["error"]["code"]
    answer = agent.post(deep.encode()).json()
    assert answer["error"]["code"] in {-32700, -32600}
    nested: object = "x"
    for _ in range(200):
        nested = [nested]
    refused = agent.legacy("tools/call", {"name": "search_memory", "arguments": {"query": nested}})
    assert refused.get("error") or refused["result"]["isError"]
    assert priya.remember()


def test_every_route_that_takes_a_body_keeps_to_the_limit(priya: Rest, settings: Settings) -> None:
    """Regression: 413 with a sentence, and just below the limit the body is read (case 20)."""
    settings.AMPUP_MAX_BODY_BYTES = limit = 4_096
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = limit
    assert base.AMPUP_MAX_BODY_BYTES > 16 * 2**20
    for name in ROUTES:
        method = name.partition(" ")[0]
        if method in {"POST", "PUT"}:
            path = filled(name, episode_id="0" * 64)
            status, answer = priya.call(method, path, b" " * (limit + 1))
            assert (status, answer["error"]["code"]) == (413, "too_large"), name
            status, answer = priya.call(method, path, b" " * (limit - 2) + b"{}")
            assert status in {400, 403, 404, 422}, (name, answer)
