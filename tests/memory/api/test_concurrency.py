"""REST: many callers at once."""

import asyncio

from accounts.domain.roles import Role
from memory.engine import Engine
from tests.accounts.builders import a_key, an_org
from tests.memory.api.rest import NOTE, Rest

ORGS = ("one", "two", "three", "four")
EACH = 16


def test_writers_of_four_orgs_at_once_never_meet(engine: Engine) -> None:
    """Regression: the scope is a value of the request, so no row lands elsewhere (case 25)."""
    for org in ORGS:
        an_org(org)
    anyone = Rest(a_key(Role.SERVICE).text)

    async def write(org: str, n: int) -> str:
        note = {**NOTE, "body": f"Note {n} of {org}."}
        answer = await anyone.sending(
            "POST", "/remember", json=note, headers={"x-memstore-org": org}
        )
        assert answer.status_code == 200, answer.text
        return str(answer.json()["episode_id"])

    async def all_at_once() -> list[str]:
        return await asyncio.gather(*(write(org, n) for n in range(EACH) for org in ORGS))

    ids = asyncio.run(all_at_once())
    assert len(set(ids)) == EACH * len(ORGS)
    for org in ORGS:
        found = anyone.done("POST", f"/query?org={org}", {"find": "episodes", "k": 200})["results"]
        assert {row["title"] for row in found} == {f"Note {n} of {org}." for n in range(EACH)}
    figures = engine.committer.figures()
    assert sum(figures.writes) == EACH * len(ORGS)
    assert len(figures.writes) < EACH * len(ORGS) / 2, "writes that wait together land together"
