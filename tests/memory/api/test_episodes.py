"""REST: remember, ingest, read, forget, amend."""

import hashlib

import pytest

from memory.engine import Engine
from tests.memory.api.rest import EPISODE, NOTE, Rest


def test_a_note_is_kept_signed_found_read_and_forgotten(priya: Rest) -> None:
    """Documented: POST /remember, /search, GET and DELETE /episodes/{id}."""
    kept = priya.done("POST", "/remember", {**NOTE, "tags": ["deal"], "about": ["account:acme"]})
    source = "mcp:remember_memory:priya:acme"
    identity = hashlib.sha256(f"{source}\x00{NOTE['body']}".encode()).hexdigest()
    assert kept == {
        "episode_id": identity,
        "source": source,
        "created": True,
        "commit": kept["commit"],
    }
    assert kept["commit"].startswith("c_")
    found = priya.done("POST", "/search", {"query": "who owns the renewal", "k": 5})
    assert found["facts"] == []
    assert [hit["text"] for hit in found["passages"]] == [NOTE["body"]]
    assert found["episodes"][0]["episode_id"] == identity
    read = priya.done("GET", f"/episodes/{identity}")
    assert (read["body"], read["type"], read["tags"]) == (NOTE["body"], "doc", ["deal"])
    assert read["units"] == [{"n": 1, "label": "p1", "text": NOTE["body"]}]
    assert "acl" not in read
    gone = priya.done("DELETE", f"/episodes/{identity}")
    assert gone["forgotten"] is True
    assert priya.refusal("GET", f"/episodes/{identity}") == (404, "not_found", "episode_id")
    assert priya.passages("renewal") == []
    assert priya.done("DELETE", f"/episodes/{identity}")["commit"] == gone["commit"]


def test_the_same_note_again_changes_nothing(priya: Rest) -> None:
    """Documented: the repeat is answered created: false, with the commit that made it so."""
    first = priya.done("POST", "/remember", NOTE)
    assert priya.done("POST", "/remember/", NOTE) == {**first, "created": False}


def test_episodes_are_ingested_as_given_and_as_a_bare_list(ingest: Rest, reader: Rest) -> None:
    """Documented: POST /episodes takes an object or a list, and keeps the order."""
    second = {**EPISODE, "body": "Sam: Another call.", "acl": ["group:sales"], "meta": {"n": 7}}
    answer = ingest.done("POST", "/episodes", {"episodes": [EPISODE, second]})
    assert [episode["created"] for episode in answer["episodes"]] == [True, True]
    again = ingest.done("POST", "/episodes", [second, EPISODE])
    assert [e["episode_id"] for e in again["episodes"]] == [
        e["episode_id"] for e in reversed(answer["episodes"])
    ]
    assert [e["created"] for e in again["episodes"]] == [False, False]
    public, private = (episode["episode_id"] for episode in answer["episodes"])
    assert reader.done("GET", f"/episodes/{public}?units=2")["body"] == "Sam: Good."
    assert reader.call("GET", f"/episodes/{private}")[0] == 404
    assert reader.call("GET", f"/episodes/{private}") == reader.call("GET", f"/episodes/{'0' * 64}")


def test_posting_again_with_a_wider_acl_widens_nothing(local: Rest) -> None:
    """Documented: only PUT /episodes/{id}/acl changes who may read, by compare-and-set."""
    narrow = {**EPISODE, "acl": ["user:priya"]}
    first = local.done("POST", "/episodes", [narrow])["episodes"][0]
    again = local.done("POST", "/episodes", [EPISODE])["episodes"][0]
    assert again == {**first, "created": False, "acl_unchanged": True}
    path = f"/episodes/{first['episode_id']}/acl"
    wrong = {"acl": ["*"], "expected": ["*"]}
    assert local.refusal("PUT", path, wrong)[:2] == (409, "acl_changed")
    wide = local.done("PUT", path, {"acl": ["*"], "expected": ["user:priya"]})
    assert wide["acl"] == ["*"]
    assert local.done("GET", path.removesuffix("/acl"))["acl"] == ["*"]


def test_a_note_of_ones_own_is_not_there_for_another(priya: Rest, sam: Rest, reader: Rest) -> None:
    """Documented: hidden and missing answer alike on every route (case 51)."""
    own = priya.remember("Acme pays late, keep it quiet.", visibility="me")
    mine = priya.done("POST", "/remember?scope=mine", NOTE)["episode_id"]
    for stranger in (sam, reader):
        for hidden in (own, mine):
            missing = stranger.call("GET", f"/episodes/{'f' * 64}")
            assert stranger.call("GET", f"/episodes/{hidden}") == missing
        assert stranger.passages("acme quiet renewal") == []
        assert stranger.done("POST", "/query", {"find": "episodes"})["results"] == []
    assert sam.call("DELETE", f"/episodes/{own}") == sam.call("DELETE", f"/episodes/{'f' * 64}")
    assert priya.passages("quiet") == ["Acme pays late, keep it quiet."]
    assert sam.refusal("GET", f"/episodes/{own}?scope=user:priya")[:2] == (403, "forbidden")


def test_what_the_role_may_not_is_refused(reader: Rest, ingest: Rest) -> None:
    """Documented: a reader key writes nothing, an ingest key reads nothing."""
    assert reader.refusal("POST", "/remember", NOTE)[:2] == (403, "forbidden")
    assert reader.refusal("POST", "/episodes", [EPISODE])[:2] == (403, "forbidden")
    assert reader.refusal("DELETE", f"/episodes/{'0' * 64}")[:2] == (403, "forbidden")
    acl = {"acl": ["*"], "expected": ["*"]}
    assert reader.refusal("PUT", f"/episodes/{'0' * 64}/acl", acl)[:2] == (403, "forbidden")
    assert ingest.refusal("POST", "/search", {"query": "x"})[:2] == (403, "forbidden")
    assert ingest.refusal("GET", f"/episodes/{'0' * 64}")[:2] == (403, "forbidden")


def test_a_bad_member_is_named_and_the_whole_batch_is_refused(ingest: Rest, local: Rest) -> None:
    """Documented: 4xx says which item failed, and nothing is stored (case 11)."""
    for body, field in (("", "body"), (" \t\n", "body"), ("\u200b\ufeff", "body")):
        bad = {**EPISODE, "body": body}
        refusal = ingest.refusal("POST", "/episodes", [EPISODE, bad, {**EPISODE, "body": "Sam: 3"}])
        assert refusal == (400, "bad_request", f"episodes[1].{field}")
    unclaimed = {**EPISODE, "source": "wiki:1"}
    assert ingest.refusal("POST", "/episodes", [EPISODE, unclaimed]) == (
        400,
        "unclaimed_source",
        "episodes[1].source",
    )
    keep = {**NOTE, "source": "keep:likes:tea"}
    assert ingest.refusal("POST", "/remember", keep) == (400, "reserved_source", "source")
    nobody = {name: value for name, value in EPISODE.items() if name != "acl"}
    assert ingest.refusal("POST", "/episodes", [nobody]) == (
        400,
        "acl_required",
        "episodes[0].acl",
    )
    assert local.done("POST", "/query", {"find": "episodes"})["results"] == []


@pytest.mark.parametrize(
    "moment",
    [
        "1969-12-31T23:59:59.999999Z",
        "1970-01-01T00:00:00Z",
        "1900-02-28T00:00:00Z",
        -62135596800000000,
    ],
)
def test_early_times_are_stored_and_found_by_windows(local: Rest, moment: object) -> None:
    """Regression: dates before 1970 neither fail nor vanish (case 32)."""
    local.done("POST", "/episodes", [{**EPISODE, "occurred_at": moment}])
    [row] = local.done("POST", "/query", {"find": "episodes"})["results"]
    at = row["occurred_at"]

    def inside(start: int, end: int) -> int:
        window = {"find": "episodes", "from": start, "to": end}
        return len(local.done("POST", "/query", window)["results"])

    assert (inside(at, at + 1), inside(at + 1, at + 2)) == (1, 0)
    assert len(local.passages("renewal", **{"from": at, "to": at + 1})) == 1
    assert local.passages("renewal", **{"from": at + 1}) == []


def test_one_instant_in_three_notations_is_one_instant(local: Rest) -> None:
    """Regression: times are compared as instants, digits below µs are cut (cases 33, 37)."""
    forms = (
        "2026-01-01T00:00:00.123456789Z",
        "2026-01-01T05:30:00.1234569+05:30",
        "2025-12-31T17:00:00.123456-07:00",
    )
    batch = [
        {**EPISODE, "source": f"gong:{n}", "occurred_at": form} for n, form in enumerate(forms)
    ]
    local.done("POST", "/episodes", batch)
    for form in forms:
        window = {"find": "episodes", "from": form, "to": 1_767_225_600_123_457}
        rows = local.done("POST", "/query", window)["results"]
        assert [row["occurred_at"] for row in rows] == [1_767_225_600_123_456] * 3


NO_MOMENTS: tuple[object, ...] = (
    "2026-01-01T12:00:00",
    "20260726",
    "2026-W30-7",
    "9999-12-31T23:59:59-12:00",
    "10000-01-01T00:00:00Z",
    "0000-01-01T00:00:00Z",
    10**18,
    -(10**18),
    10**30,
    "infinity",
    "",
)


def test_a_time_that_is_no_moment_is_refused_by_name(local: Rest) -> None:
    """Regression: naive, odd and endless times are refused at the door (cases 35, 39, 40)."""
    for moment in NO_MOMENTS:
        refusal = local.refusal("POST", "/episodes", [{**EPISODE, "occurred_at": moment}])
        assert refusal == (400, "bad_request", "episodes[0].occurred_at"), moment
        note = {**NOTE, "occurred_at": moment}
        assert local.refusal("POST", "/remember", note) == (400, "bad_request", "occurred_at")
        query = {"find": "episodes", "from": moment}
        assert local.refusal("POST", "/query", query) == (400, "bad_query", "from")


def test_a_body_of_many_words_is_found_by_its_first_and_last(local: Rest) -> None:
    """Regression: no tsvector limit, no lexeme limit, no B-tree limit (case 18)."""
    words = [f"w{n:x}" for n in range(60_000)]
    local.done("POST", "/episodes", [{**EPISODE, "source": "doc:words", "body": " ".join(words)}])
    assert words[0] in local.passages("w0")[0]
    assert words[-1] in local.passages(words[-1])[0]
    local.remember(f"A word of {'x' * 3_000} letters.")
    assert local.passages("letters")[0].endswith("letters.")
    assert local.refusal("POST", "/remember", {**NOTE, "document": "d" * 10_240})[2] == "document"
    assert local.refusal("POST", "/remember", {**NOTE, "source": "d" * 10_240})[2] == "source"


def test_a_path_in_a_document_key_stays_a_name(local: Rest, engine: Engine) -> None:
    """Regression: nothing outside the warehouse is touched (case 14)."""
    root = engine.warehouse.root
    before = set(root.parent.rglob("*")) - set(root.rglob("*"))
    for n, name in enumerate(("../x", "a/../../b", "..", "C:\\x", "%2e%2e%2f")):
        identity = local.remember(f"Version {n}.", document=name)
        assert local.done("GET", f"/episodes/{identity}")["document"] == name
    assert set(root.parent.rglob("*")) - set(root.rglob("*")) == before


def test_an_id_that_is_none_is_refused(local: Rest) -> None:
    """Ours: an id is 64 hex digits; anything else is no error of the server's."""
    for path in ("..%2f..%2fetc", "0" * 63, "A" * 64, "%00", "\u00e9"):
        status, code, _ = local.refusal("GET", f"/episodes/{path}")
        assert (status, code) in ((400, "bad_request"), (404, "not_found")), path


def test_units_that_are_no_range_are_refused(local: Rest) -> None:
    """Ours: one number or a range, counted from 1."""
    identity = local.remember()
    for units in ("0", "3-1", "x", "-1", "1-", "1&units=2", "\u0663", "9" * 30):
        refusal = local.refusal("GET", f"/episodes/{identity}?units={units}")
        assert refusal == (400, "bad_request", "units"), units
