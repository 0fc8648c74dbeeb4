"""apikey, org and team on the command line."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.domain.roles import Role
from accounts.models import ApiKey, Org, Team
from accounts.services.authenticate import authenticate
from ampup_site.kernel.clock import SystemClock
from ampup_site.kernel.errors import AmpUpError
from tests.accounts.builders import an_org
from tests.accounts.domain.test_scope import HOSTILE

pytestmark = pytest.mark.django_db

DAY = 86_400_000_000


def run(*words: str) -> str:
    out = io.StringIO()
    call_command(*words, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def run_json(*words: str) -> Any:
    return json.loads(run(*words, "--json"))


def test_a_key_is_made_shown_once_and_revoked() -> None:
    """Documented: apikey create --role, list, revoke."""
    run("org", "create", "acme")
    run("team", "create", "sales", "--org", "acme")
    words = ("--org", "acme", "--team", "sales", "--group", "a", "--group", "b")
    rest = ("--acl-default", "group:a", "--expires", "90d", "--label", "nightly")
    text = run("apikey", "create", "--role", "ingest", *words, *rest).strip()
    caller = authenticate(text, clock=SystemClock(), local=False)
    assert (caller.role, caller.org, caller.team) == (Role.INGEST, "acme", "sales")
    assert (caller.groups, caller.default_acl) == (("a", "b"), ("group:a",))
    row = ApiKey.objects.get()
    assert row.expires_at is not None
    assert 0 <= row.created_at + 90 * DAY - row.expires_at < DAY
    table = run("apikey", "list")
    assert text not in table
    assert "nightly" in table
    run("apikey", "revoke", row.public_id)
    with pytest.raises(AmpUpError):
        authenticate(text, clock=SystemClock(), local=False)


def test_a_personal_key_makes_its_person() -> None:
    """Documented: apikey create --personal."""
    an_org("default")
    made = run_json("apikey", "create", "--personal", "priya")
    caller = authenticate(made["key"], clock=SystemClock(), local=False)
    assert (caller.author, caller.org, made["personal"]) == ("user:priya", "default", "priya")
    assert [row["id"] for row in run_json("apikey", "list")] == [made["id"]]


def test_lists_are_tables_for_people_and_json_for_programs() -> None:
    """Ours: --json everywhere, times as integers there."""
    an_org("acme", "sales")
    assert "acme" in run("org", "list")
    assert {"org": "acme", "team": "sales"}.items() <= run_json("team", "list")[0].items()
    assert run("team", "list", "--org", "acme").splitlines()[0].split() == [
        "org",
        "team",
        "created_at",
    ]
    assert isinstance(run_json("org", "list")[0]["created_at"], int)


@pytest.mark.parametrize(
    "words",
    [
        ("org", "create", "acme"),
        ("team", "create", "sales", "--org", "nowhere"),
        ("team", "list", "--org", "nowhere"),
        ("apikey", "create", "--role", "reader", "--org", "nowhere"),
        ("apikey", "create", "--role", "reader", "--expires", "soon"),
        ("apikey", "create", "--role", "local"),
        ("apikey", "create", "--role", "personal"),
        ("apikey", "create", "--role", "reader", "--personal", "priya"),
        ("apikey", "create"),
        ("apikey", "revoke", "zzzzzzzz"),
        ("apikey",),
    ],
)
def test_what_cannot_be_done_is_one_line(words: tuple[str, ...]) -> None:
    """Ours: a refusal is an error of one line, never a traceback."""
    an_org("acme")
    with pytest.raises(CommandError) as refused:
        run(*words)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_refused_on_the_command_line(name: str) -> None:
    """Regression: the shell refuses what the grammar refuses (case 14)."""
    an_org("acme")
    before = (Org.objects.count(), Team.objects.count())
    for words in (("org", "create", "--", name), ("team", "create", "--org", "acme", "--", name)):
        with pytest.raises(CommandError):
            run(*words)
    assert (Org.objects.count(), Team.objects.count()) == before
