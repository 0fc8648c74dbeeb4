"""REST: background loads and their jobs."""

from pathlib import Path

import pytest
from pytest_django import Settings

from accounts.domain.roles import Role
from memory.engine import Engine
from memory.services.loads import run_load
from tests.accounts.builders import a_key, an_org
from tests.memory.api.rest import EPISODE, NOTE, Rest

BATCH = {"episodes": [EPISODE, {**EPISODE, "body": ""}, {**EPISODE, "source": "gong:2"}]}


@pytest.fixture(autouse=True)
def spool(settings: Settings, tmp_path: Path) -> Path:
    """A data folder of this test's own."""
    settings.AMPUP_DATA_DIR = tmp_path
    return tmp_path / "spool"


def test_a_background_load_answers_202_and_its_job_lists_the_commits(
    ingest: Rest, local: Rest, engine: Engine, spool: Path
) -> None:
    """Documented: POST /episodes with background, GET /jobs/{id}; a bad item is named alone."""
    status, promised = ingest.call("POST", "/episodes", {**BATCH, "background": True})
    assert (status, set(promised)) == (202, {"job"})
    path = f"/jobs/{promised['job']}"
    queued = ingest.done("GET", path)
    assert (queued["state"], queued["done"], queued["total"]) == ("queued", 0, 3)
    run_load(engine, promised["job"], spool=spool)
    done = ingest.done("GET", path)
    assert (done["state"], done["done"], len(done["commits"])) == ("done", 3, 1)
    assert [item["position"] for item in done["refused"]] == ["2"]
    assert len(local.done("POST", "/query", {"find": "episodes"})["results"]) == 2
    assert local.done("GET", path) == done


def test_a_job_is_not_there_for_strangers(ingest: Rest, reader: Rest, engine: Engine) -> None:
    """Documented: another scope's or caller's job answers like a missing one."""
    del engine
    an_org("acme")
    job = ingest.done("POST", "/episodes", {**BATCH, "background": True})["job"]
    missing = Rest(a_key(Role.INGEST).text)
    for stranger, path in (
        (missing, f"/jobs/{job}"),
        (ingest, f"/jobs/{job}?org=acme"),
        (Rest(a_key(Role.ADMIN, org="acme").text), f"/jobs/{job}"),
    ):
        assert stranger.call("GET", path) == stranger.call("GET", path.replace(job, "job_none"))
        assert stranger.call("GET", path)[0] == 404
    assert reader.refusal("GET", f"/jobs/{job}")[:2] == (403, "forbidden")
    assert ingest.refusal("GET", "/jobs/%00")[0] == 404


def test_the_same_key_promises_the_same_job(ingest: Rest, reader: Rest, spool: Path) -> None:
    """Ours: a repeated background load under its key is one job; who may not is refused."""
    headers = {"idempotency-key": "nightly"}
    body = {**BATCH, "background": True}
    assert reader.refusal("POST", "/episodes", body)[:2] == (403, "forbidden")
    assert not spool.exists()
    first = ingest.call("POST", "/episodes", body, **headers)
    assert ingest.call("POST", "/episodes", body, **headers) == first
    assert len(list(spool.iterdir())) == 1
    assert ingest.refusal("POST", "/remember", {**NOTE, "background": True})[2] == "background"
