"""REST: search, query, and what else a caller can read."""

import json

from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.memory.api.rest import EPISODE, Rest

TEXT = "日本語 \U0001f469\u200d\U0001f469\u200d\U0001f467 café cafe\u0301 \u202eevil <img src=x>"


def test_the_text_answer_cites_and_ends_with_the_episodes(local: Rest) -> None:
    """Documented: format text is the layout of agents, held to max_chars."""
    identity = local.remember()
    answer = local.done("POST", "/search", {"query": "renewal", "format": "text"})
    assert "[e1 p1]" in answer["text"]
    assert identity in answer["text"].splitlines()[-1]
    small = {"query": "renewal", "format": "text", "max_chars": 500}
    assert len(local.done("POST", "/search", small)["text"]) <= 500


def test_all_routes_give_the_same_text_back(local: Rest) -> None:
    """Regression: no route loses characters (case 5), markup stays data (case 15)."""
    identity = local.remember(TEXT)
    assert local.done("GET", f"/episodes/{identity}")["body"] == TEXT
    assert local.passages("日本語") == [TEXT]
    found = local.done("POST", "/search", {"query": "evil"})
    assert found["passages"][0]["text"] == TEXT
    raw = local.send("GET", f"/episodes/{identity}")
    assert raw.headers["content-type"] == "application/json"
    assert json.loads(raw.content.decode("utf-8"))["body"] == TEXT


def test_composed_and_decomposed_words_find_each_other(local: Rest) -> None:
    """Regression: NFC, NFD and full-width forms match across (case 7)."""
    local.remember("We met at the café.")
    local.remember("Code \uff21\uff22\uff23 is due.")
    assert local.passages("cafe\u0301") == ["We met at the café."]
    assert local.passages("abc") == ["Code \uff21\uff22\uff23 is due."]


def test_episodes_are_listed_page_by_page_without_gap_or_repeat(local: Rest) -> None:
    """Documented: k and next_cursor; newest first or oldest first; filters hold on each page."""
    batch = [
        {**EPISODE, "source": f"gong:{n}", "occurred_at": 1_000_000 * (n // 2), "tags": ["call"]}
        for n in range(7)
    ]
    local.done("POST", "/episodes", batch)
    local.remember()
    for order in ("newest", "oldest"):
        query = {"find": "episodes", "source": "gong:", "tags": ["call"], "k": 3, "order": order}
        rows: list[dict[str, object]] = []
        cursor = None
        while True:
            page = local.done("POST", "/query", query | ({"cursor": cursor} if cursor else {}))
            rows += page["results"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert {row["source"] for row in rows} == {f"gong:{n}" for n in range(7)}
        assert len(rows) == 7
        times = [row["occurred_at"] for row in rows]
        assert times == sorted(times, reverse=order == "newest")  # type: ignore[type-var]
        assert rows[0]["title"] == "Priya: I own the renewal."


BAD_QUERIES: list[tuple[object, str | None]] = [
    ({"find": "passages", "text": "x", "frm": 1}, "frm"),
    ({"find": "passages", "text": "x", "entity": "a"}, "entity"),
    ({"find": "passages", "text": "x", "as_of": 1}, "as_of"),
    ({"find": "passages"}, "text"),
    ({"find": "passages", "text": " "}, "text"),
    ({"find": "passages", "text": "x", "k": 0}, "k"),
    ({"find": "passages", "text": "x", "k": 201}, "k"),
    ({"find": "passages", "text": "x", "k": True}, "k"),
    ({"find": "passages", "text": "x", "k": "5"}, "k"),
    ({"find": "passages", "text": "x", "k": 5.0}, "k"),
    ({"find": "passages", "text": "x", "cursor": "a"}, "cursor"),
    ({"find": "episodes", "order": "relevance"}, "order"),
    ({"find": "episodes", "cursor": "../x"}, "cursor"),
    ({"find": "episodes", "tags": "x"}, "tags"),
    ({"find": "facts"}, "find"),
    ({"find": "history"}, "find"),
    ({"find": ["passages"]}, "find"),
    ({}, "find"),
    ([], None),
]


def test_a_query_that_cannot_be_answered_names_its_key(local: Rest) -> None:
    """Documented: an unknown key is 400 bad_query; what a later version serves is said so."""
    for body, field in BAD_QUERIES:
        assert local.refusal("POST", "/query", body) == (400, "bad_query", field), body


BAD_SEARCHES: list[tuple[dict[str, object], int, str]] = [
    ({"as_of": 1}, 400, "as_of"),
    ({"explain": 1}, 422, "explain"),
    ({"predicates": []}, 400, "predicates"),
    ({"queri": "x"}, 400, "queri"),
    ({"k": True}, 422, "k"),
    ({"k": 201}, 400, "k"),
    ({"max_chars": 499}, 422, "max_chars"),
    ({"format": "xml"}, 422, "format"),
    ({"query": ""}, 400, "query"),
    ({"query": "\x00"}, 400, "query"),
    ({"query": "\ud800"}, 400, "query"),
    ({"tags": ["\x00"]}, 400, "tags[0]"),
    ({"about": "\udfff"}, 400, "about"),
]


def test_a_search_that_cannot_be_answered_names_its_field(local: Rest) -> None:
    """Ours: strict types, closed shape; text that no store keeps is refused (cases 1, 9)."""
    for fields, status, field in BAD_SEARCHES:
        refusal = local.refusal("POST", "/search", {"query": "x", **fields})
        assert refusal[::2] == (status, field), fields


def test_whoami_tells_the_caller_and_its_rights(priya: Rest, local: Rest, reader: Rest) -> None:
    """Documented: GET /whoami; nobody without a key."""
    mine = priya.done("GET", "/whoami")
    assert (mine["user"], mine["role"], mine["timezone"]) == ("priya", "personal", "UTC")
    assert mine["scopes"] == ["org:default", "user:priya"]
    assert "remember" in mine["rights"]
    assert "ingest" not in mine["rights"]
    assert local.done("GET", "/whoami/")["role"] == "local"
    assert reader.done("GET", "/whoami")["user"] is None
    assert Rest("msk_AbCd1234_x").refusal("GET", "/whoami")[:2] == (401, "unauthenticated")


def test_counts_of_the_index_are_for_administrators_and_services(
    local: Rest, priya: Rest, reader: Rest
) -> None:
    """Documented: GET /index/status says ready to readers, and counts to those who may see."""
    local.remember()
    for caller in (priya, reader):
        assert set(caller.done("GET", "/index/status")) == {"ready", "generation"}
    full = local.done("GET", "/index/status")
    assert full["ready"] is True
    assert full["applied"].startswith("c_")
    assert full["vectors_pending"] == 0


def test_episode_types_are_shown(reader: Rest) -> None:
    """Documented: GET /episode-types and /episode-types/{type}."""
    names = [kind["name"] for kind in reader.done("GET", "/episode-types")["results"]]
    assert names == ["sales_call", "slack_thread", "email", "crm_update", "doc"]
    call = reader.done("GET", "/episode-types/sales_call")
    assert (call["unit"], call["letter"]) == ("turn", "t")
    assert reader.refusal("GET", "/episode-types/nope") == (404, "not_found", "type")


@hypothesis_settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.text(min_size=1, max_size=60),
    st.sampled_from(["source", "body", "document", "tags", "about", "query"]),
)
def test_any_text_in_any_field_is_kept_verbatim_or_refused(
    local: Rest, text: str, field: str
) -> None:
    """Ours: whatever is sent, the answer is 2xx or a 4xx of the envelope (cases 1, 5, 11)."""
    if field == "query":
        status, answer = local.call("POST", "/search", {"query": text})
        assert status == 200 or answer["error"]["code"]
        return
    value = [text] if field in ("tags", "about") else text
    status, answer = local.call(
        "POST", "/remember", {"source": "fuzz", "body": "Some text.", field: value}
    )
    assert status in (200, 400, 422), answer
    if status == 200 and answer["created"]:
        kept = local.done("GET", f"/episodes/{answer['episode_id']}")
        if field in ("body", "document"):
            assert kept[field] == text


def test_a_body_of_very_many_arrays_is_refused_unparsed(local: Rest) -> None:
    """Regression: parsing millions of them held every caller of the process for seconds."""
    body = b'{"query": "a", "tags": [' + b"[]," * 100_000 + b"[]]}"
    headers = {"content-type": "application/json"}
    answer = local.send("POST", "/search", content=body, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "bad_request"
