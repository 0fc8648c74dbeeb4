"""Keys, orgs and teams: made, listed, revoked, by whom."""

import pytest

from accounts.domain.caller import Caller, local_caller
from accounts.domain.key import KeyDraft
from accounts.domain.roles import Role
from accounts.models import ApiKey, AuditRow, Org, Team
from accounts.services import keys, orgs
from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import AmpUpError
from tests.accounts.builders import NOON, FixedClock, a_caller, a_key, an_org, signed_in
from tests.accounts.domain.test_scope import HOSTILE

pytestmark = pytest.mark.django_db

CLOCK = FixedClock()
ACME_ADMIN = a_caller(Role.ADMIN, org="acme")
TEAM_ADMIN = a_caller(Role.ADMIN, org="acme", team="sales")


@pytest.fixture
def _orgs() -> None:
    an_org("acme", "sales", "support")
    an_org("other")


def refusal(caller: Caller, **draft: object) -> tuple[str, str | None]:
    before = ApiKey.objects.count()
    with pytest.raises(AmpUpError) as refused:
        keys.create_key(caller, KeyDraft(**draft), clock=CLOCK)  # type: ignore[arg-type]
    assert ApiKey.objects.count() == before
    return refused.value.code, refused.value.field


@pytest.mark.usefixtures("_orgs")
def test_an_orgs_administrator_makes_lists_and_revokes_its_keys_alone() -> None:
    """Documented: rights are the org's; another org's keys are as if they were not there."""
    made = keys.create_key(ACME_ADMIN, KeyDraft(role=Role.ADMIN), clock=CLOCK)
    assert signed_in(made).org == "acme"
    foreign, everywhere = a_key(org="other"), a_key(org="*")
    assert [key.public_id for key in keys.list_keys(ACME_ADMIN).keys] == [made.record.public_id]
    answers = set()
    for public_id in (foreign.record.public_id, everywhere.record.public_id, "zzzzzzzz", "../x"):
        with pytest.raises(AmpUpError) as refused:
            keys.revoke_key(ACME_ADMIN, public_id, clock=CLOCK)
        answers.add((refused.value.code, refused.value.message))
    assert len(answers) == 1
    assert signed_in(foreign).org == "other"


@pytest.mark.usefixtures("_orgs")
@pytest.mark.parametrize(
    ("caller", "draft", "code"),
    [
        (ACME_ADMIN, {"org": "other"}, "wrong_org"),
        (ACME_ADMIN, {"org": "nowhere"}, "wrong_org"),
        (ACME_ADMIN, {"org": "*"}, "wrong_org"),
        (ACME_ADMIN, {"team": "missing"}, "no_such_scope"),
        (TEAM_ADMIN, {"team": "support"}, "forbidden"),
        (local_caller(), {"org": "nowhere"}, "no_such_scope"),
        (local_caller(), {"org": "other", "team": "sales"}, "no_such_scope"),
        (local_caller(), {"org": "*", "team": "sales"}, "bad_request"),
        (local_caller(), {"role": Role.LOCAL}, "bad_request"),
        (local_caller(), {"role": Role.PERSONAL}, "bad_request"),
        (local_caller(), {"person": "priya"}, "bad_request"),
        (local_caller(), {"role": Role.PERSONAL, "person": "a b"}, "bad_scope"),
        (local_caller(), {"role": Role.PERSONAL, "person": "local"}, "bad_scope"),
        (local_caller(), {"groups": ("a b",)}, "bad_request"),
        (local_caller(), {"roles": ("",)}, "bad_request"),
        (local_caller(), {"default_acl": ()}, "bad_request"),
        (local_caller(), {"default_acl": ("everyone",)}, "bad_request"),
        (local_caller(), {"toolset": "amcs"}, "bad_request"),
        (local_caller(), {"label": "a\nb"}, "bad_request"),
        (local_caller(), {"expires_at": NOON}, "bad_request"),
        (local_caller(), {"expires_at": Micros(2**63)}, "bad_request"),
    ],
)
def test_a_key_out_of_bounds_is_refused(
    caller: Caller, draft: dict[str, object], code: str
) -> None:
    """Ours: no key reaches further than its maker, and no value is stored unchecked."""
    assert refusal(caller, **{"role": Role.READER, **draft})[0] == code


@pytest.mark.usefixtures("_orgs")
def test_a_teams_administrator_makes_keys_for_the_team() -> None:
    """Ours: a binding is inherited."""
    made = keys.create_key(TEAM_ADMIN, KeyDraft(role=Role.ADMIN), clock=CLOCK)
    assert (made.record.org, made.record.team) == ("acme", "sales")
    a_key(org="acme", team="support")
    assert len(keys.list_keys(TEAM_ADMIN).keys) == 1


def test_every_org_is_asked_for_and_never_fallen_into() -> None:
    """Ours: without an org a key belongs to the default one; `*` means every org."""
    an_org("default")
    assert (a_key(org=None).record.org, a_key(org="*").record.org) == ("default", None)


@pytest.mark.usefixtures("_orgs")
def test_an_administrator_cannot_take_another_orgs_person() -> None:
    """Ours: a personal scope goes with the user id, so another org's id is taken."""
    a_key(Role.PERSONAL, org="other", person="bob")
    a_key(Role.PERSONAL, person="carol")
    for person in ("bob", "carol"):
        assert refusal(ACME_ADMIN, role=Role.PERSONAL, person=person)[0] == "name_taken"
    keys.create_key(ACME_ADMIN, KeyDraft(role=Role.PERSONAL, person="priya"), clock=CLOCK)


@pytest.mark.usefixtures("_orgs")
@pytest.mark.parametrize("role", [role for role in Role if role not in (Role.ADMIN, Role.LOCAL)])
def test_no_other_role_administers(role: Role) -> None:
    """Documented: keys, orgs and teams are for administrators and serve --local."""
    caller = a_caller(role, org="acme")
    attempts = (
        lambda: keys.create_key(caller, KeyDraft(role=Role.READER), clock=CLOCK),
        lambda: keys.list_keys(caller),
        lambda: keys.revoke_key(caller, "AbCd1234", clock=CLOCK),
        lambda: orgs.create_org(caller, name="fresh", clock=CLOCK),
        lambda: orgs.create_team(caller, name="fresh", clock=CLOCK),
        lambda: orgs.list_orgs(caller),
        lambda: orgs.list_teams(caller),
    )
    for attempt in attempts:
        with pytest.raises(AmpUpError) as refused:
            attempt()
        assert refused.value.code == "forbidden"


def test_a_list_comes_in_pages() -> None:
    """Ours: the newest first, a page at a time, each key once."""
    made = [a_key().record.public_id for _ in range(5)]
    seen: list[str] = []
    cursor = None
    while len(seen) < 5:
        page = keys.list_keys(local_caller(), k=2, cursor=cursor)
        seen += [key.public_id for key in page.keys]
        cursor = page.next_cursor
    assert (seen, cursor) == (made[::-1], None)


def test_revoking_twice_keeps_the_first_moment() -> None:
    """Ours: a repeat changes nothing and is not written to the trail again."""
    key, clock = a_key(), FixedClock()
    first = keys.revoke_key(local_caller(), key.record.public_id, clock=clock)
    clock.forward(5)
    assert keys.revoke_key(local_caller(), key.record.public_id, clock=clock) == first
    assert AuditRow.objects.filter(action="key.revoke").count() == 1


@pytest.mark.usefixtures("_orgs")
def test_every_change_leaves_a_row_in_the_trail() -> None:
    """Ours: who did what to which; a refused change leaves none."""
    AuditRow.objects.all().delete()
    orgs.create_team(ACME_ADMIN, name="fresh", clock=CLOCK)
    key = keys.create_key(ACME_ADMIN, KeyDraft(role=Role.READER), clock=CLOCK)
    refusal(ACME_ADMIN, role=Role.READER, team="missing")
    keys.revoke_key(ACME_ADMIN, key.record.public_id, clock=CLOCK)
    target = f"key:{key.record.public_id}"
    assert list(AuditRow.objects.order_by("id").values_list("at", "actor", "action", "target")) == [
        (NOON, "key:AbCd1234", "team.create", "team:acme/fresh"),
        (NOON, "key:AbCd1234", "key.create", target),
        (NOON, "key:AbCd1234", "key.revoke", target),
    ]


@pytest.mark.usefixtures("_orgs")
@pytest.mark.parametrize(
    ("caller", "org", "team", "code"),
    [
        (ACME_ADMIN, "fresh", None, "forbidden"),
        (local_caller(), "acme", None, "name_taken"),
        (local_caller(), "ws_1", None, "bad_scope"),
        (local_caller(), "acme", "sales", "name_taken"),
        (local_caller(), "nowhere", "sales", "no_such_scope"),
        (ACME_ADMIN, "other", "fresh", "wrong_org"),
        (ACME_ADMIN, "nowhere", "fresh", "wrong_org"),
        (TEAM_ADMIN, "acme", "fresh", "forbidden"),
    ],
)
def test_an_org_or_team_that_cannot_be_made_is_refused(
    caller: Caller, org: str, team: str | None, code: str
) -> None:
    """Documented: name_taken, no_such_scope, and nobody reaches beyond what they administer."""
    before = (Org.objects.count(), Team.objects.count())

    def make() -> object:
        if team is None:
            return orgs.create_org(caller, name=org, clock=CLOCK)
        return orgs.create_team(caller, name=team, org=org, clock=CLOCK)

    with pytest.raises(AmpUpError) as refused:
        make()
    assert refused.value.code == code
    assert (Org.objects.count(), Team.objects.count()) == before


@pytest.mark.usefixtures("_orgs")
def test_an_administrator_lists_its_own_org_alone() -> None:
    """Documented: the list of one org's administrator names no other org."""
    assert [org.org for org in orgs.list_orgs(ACME_ADMIN)] == ["acme"]
    assert [team.team for team in orgs.list_teams(ACME_ADMIN)] == ["sales", "support"]
    assert [team.team for team in orgs.list_teams(TEAM_ADMIN)] == ["sales"]
    assert {"acme", "other"} <= {org.org for org in orgs.list_orgs(local_caller())}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_makes_no_org_and_no_team(name: str) -> None:
    """Regression: services refuse what the grammar refuses (case 14)."""
    an_org("acme")
    for make in (orgs.create_org, orgs.create_team):
        with pytest.raises(AmpUpError) as refused:
            make(local_caller(), name=name, clock=CLOCK)
        assert refused.value.code == "bad_scope"
