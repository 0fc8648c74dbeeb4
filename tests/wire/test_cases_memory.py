"""Faults seen elsewhere with deleting, counting, tenants and finding, on every surface."""

from accounts.domain.roles import Role
from memory.engine import Engine
from memory.services import indexing
from tests.accounts.builders import a_key, an_org
from tests.mcp_gateway.wire import Wire
from tests.memory.api.rest import EPISODE, Rest
from tests.wire.conftest import Shell


def found_anywhere(identity: str, rest: Rest, agent: Wire, shell: Shell) -> list[bool]:
    """Return for each way to read whether it shows the note about `alpha`."""
    listed = rest.done("POST", "/query", {"find": "episodes", "k": 200})["results"]
    searched = rest.done("POST", "/search", {"query": "alpha"})
    called = agent.call("search_memory", {"query": "alpha"}, era="modern")["structuredContent"]
    opened = agent.call("get_episode", {"episode_id": identity})
    return [
        bool(rest.passages("alpha")),
        bool(searched["passages"] or searched["episodes"]),
        any(row["episode_id"] == identity for row in listed),
        rest.call("GET", f"/episodes/{identity}")[0] == 200,
        bool(called["passages"]),
        not opened["isError"],
        bool(shell("search", "alpha")["passages"]),
        shell("episode", "get", identity) is not None,
        any(row["episode_id"] == identity for row in shell("episode", "list")["results"]),
    ]


def test_what_was_forgotten_is_gone_from_every_read_and_stays_so(
    engine: Engine, priya: Rest, agent: Wire, shell: Shell
) -> None:
    """Regression: at once, over a rebuild, and again after it was remembered again (case 43)."""
    identity = priya.remember("probe alpha")
    assert all(found_anywhere(identity, priya, agent, shell))
    gone = priya.done("DELETE", f"/episodes/{identity}")
    assert not any(found_anywhere(identity, priya, agent, shell))
    indexing.rebuild(engine)
    assert not any(found_anywhere(identity, priya, agent, shell))
    assert priya.done("DELETE", f"/episodes/{identity}") == gone
    assert priya.remember("probe alpha") == identity
    assert all(found_anywhere(identity, priya, agent, shell))
    again = priya.done("DELETE", f"/episodes/{identity}")
    assert again["commit"] != gone["commit"]
    assert not any(found_anywhere(identity, priya, agent, shell))


def test_forgetting_takes_one_note_and_there_is_no_forgetting_of_many(
    engine: Engine, priya: Rest, service: Rest
) -> None:
    """Regression: no empty filter can take everybody's notes away (case 44)."""
    others = service.done("POST", "/episodes", [{**EPISODE, "body": "alpha of others"}])
    mine = priya.remember("alpha of mine")
    for path in ("/episodes", "/episodes/", "/episodes?source=note", "/remember"):
        assert priya.call("DELETE", path)[0] == 405, path
    priya.done("DELETE", f"/episodes/{mine}")
    kept = others["episodes"][0]["episode_id"]
    listed = priya.done("POST", "/query", {"find": "episodes"})["results"]
    assert [row["episode_id"] for row in listed] == [kept]


def test_every_number_counts_what_the_caller_may_see(engine: Engine, priya: Rest) -> None:
    """Regression: of ten notes four are readable and one of these is gone (case 45)."""
    owner = Rest(a_key(Role.ADMIN).text)
    drafts = [
        {**EPISODE, "body": f"alpha {n}", "acl": ["*"] if n < 4 else ["group:board"]}
        for n in range(10)
    ]
    stored = owner.done("POST", "/episodes", drafts)["episodes"]
    owner.done("DELETE", f"/episodes/{stored[0]['episode_id']}")
    searched = priya.done("POST", "/search", {"query": "alpha", "k": 200})
    assert [len(searched[name]) for name in ("passages", "episodes")] == [3, 3]
    for find in ({"find": "passages", "text": "alpha"}, {"find": "episodes", "k": 3}):
        page = priya.done("POST", "/query", find)
        assert (len(page["results"]), page["next_cursor"]) == (3, None)
    text = priya.done("POST", "/search", {"query": "alpha", "format": "text"})["text"]
    assert (text.count("alpha"), text.count("\ne")) == (3, 3)


def test_a_header_that_names_a_user_gives_nobody_anothers_sight(
    engine: Engine, priya: Rest, service: Rest, agent: Wire
) -> None:
    """Regression: whom a key acts for stands in the key alone (case 54)."""
    mine = priya.remember("alpha of mine alone", visibility="me")
    named = {"x-memstore-user": "priya", "x-ampup-memory-user": "priya", "x-user": "user:priya"}
    stranger = a_key(Role.PERSONAL, person="sam").text
    for key in (service.key, stranger):
        rest = Rest(key, named)
        assert rest.passages("alpha") == []
        assert rest.refusal("GET", f"/episodes/{mine}")[0] == 404
        assert rest.done("GET", "/whoami") == Rest(key).done("GET", "/whoami")
        over = Wire(agent.app, key).post(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
            | {"params": {"name": "search_memory", "arguments": {"query": "alpha"}}},
            headers=named,
        )
        assert over.json()["result"]["structuredContent"]["passages"] == []
    assert priya.passages("alpha") == ["alpha of mine alone"]


def test_a_small_org_finds_its_own_whatever_a_large_one_holds(engine: Engine) -> None:
    """Regression: k are found where k are there, as before the others came (case 59)."""
    for org in ("small", "large"):
        an_org(org)
    small, large = (Rest(a_key(Role.SERVICE, org=org).text) for org in ("small", "large"))
    notes = [{**EPISODE, "body": f"The ferry fare is {n} crowns."} for n in range(30)]
    small.done("POST", "/episodes", notes)
    query = {"query": "what is the ferry fare", "k": 10}
    before = small.done("POST", "/search", query)
    assert len(before["passages"]) == 10
    stored: list[dict[str, str]] = []
    for part in range(3):
        drafts = [{**EPISODE, "body": f"What is the ferry fare? {part} {n}"} for n in range(400)]
        stored = large.done("POST", "/episodes", drafts)["episodes"]
    assert small.done("POST", "/search", query) == before
    for held in stored[: len(stored) // 10 * 9 : 40]:
        large.done("DELETE", f"/episodes/{held['episode_id']}")
    assert small.done("POST", "/search", query) == before


def test_a_question_in_plain_words_finds_what_any_of_them_is_in(service: Rest) -> None:
    """Regression: a word more never empties the list, and the best stays first (case 88)."""
    subjects = ("harbour", "kiosk", "tariff", "battery", "renewal", "invoice", "printer", "badge")
    notes = [
        {**EPISODE, "body": f"The {name} of depot {n} is mended."}
        for n, name in enumerate(subjects)
    ]
    service.done("POST", "/episodes", notes)
    for name in subjects:
        for asked in (
            name,
            f"why is the {name} not replying",
            f"{name} zeppelin",
            f"could anybody perhaps tell me when the {name} zeppelin gets mended please",
        ):
            found = service.passages(asked, k=5)
            assert found, asked
            assert name in found[0], asked


def test_the_newest_comes_first_and_equals_keep_one_order(service: Rest) -> None:
    """Regression: order newest is exact, ties go by id, pages have no gap (case 92)."""
    moment = EPISODE["occurred_at"]
    assert isinstance(moment, int)
    for part in range(2):
        old = [
            {**EPISODE, "body": f"The kiosk is closed {part} {n}.", "occurred_at": moment + n // 50}
            for n in range(500)
        ]
        service.done("POST", "/episodes", old)
    new = {**EPISODE, "body": "The kiosk is open.", "occurred_at": moment + 1_000}
    service.done("POST", "/episodes", [new])
    newest = service.passages("kiosk", order="newest", k=3)
    assert newest[0] == "The kiosk is open."
    assert service.passages("is the kiosk open", k=3)[0] == "The kiosk is open."
    body = {"find": "episodes", "k": 200}
    rows, cursor = [], None
    while True:
        page = service.done("POST", "/query", {**body, **({"cursor": cursor} if cursor else {})})
        rows += [(row["occurred_at"], row["episode_id"]) for row in page["results"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert rows == sorted(rows, reverse=True)
    assert len(set(rows)) == 1_001
    assert all(service.passages("kiosk", order="newest", k=3) == newest for _ in range(20))
