"""From a key to a caller."""

from collections.abc import Callable

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from accounts.domain.caller import Caller, local_caller
from accounts.domain.roles import Role
from accounts.models import ApiKey, Person
from accounts.services import keys
from accounts.services.authenticate import authenticate, still_stands
from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import AmpUpError
from tests.accounts.builders import HOUR, NOON, FixedClock, a_key, an_org, signed_in

pytestmark = pytest.mark.django_db


def refusal(token: str | None, *, clock: FixedClock | None = None, local: bool = False) -> str:
    with pytest.raises(AmpUpError) as refused:
        authenticate(token, clock=clock or FixedClock(), local=local)
    return refused.value.code


def test_a_personal_key_stands_for_its_person() -> None:
    """Documented: a personal key acts as its person, with the groups and roles it was given."""
    an_org("acme", "sales")
    key = a_key(
        Role.PERSONAL,
        org="acme",
        team="sales",
        person="priya",
        groups=("west", "east"),
        roles=("lead",),
        default_acl=("user:priya", "group:east"),
    )
    Person.objects.filter(username="priya").update(time_zone="Asia/Kolkata")
    assert signed_in(key) == Caller(
        author="user:priya",
        role=Role.PERSONAL,
        org="acme",
        team="sales",
        user="priya",
        groups=("east", "west"),
        roles=("lead",),
        default_acl=("group:east", "user:priya"),
        key_id=key.record.public_id,
        time_zone="Asia/Kolkata",
    )


@pytest.mark.parametrize(("role", "kind"), [(Role.SERVICE, "service"), (Role.INGEST, "key")])
def test_a_program_is_known_by_its_keys_public_id(role: Role, kind: str) -> None:
    """Ours: the ledger names a service and any other key apart."""
    key = a_key(role)
    caller = signed_in(key)
    assert (caller.author, caller.user) == (f"{kind}:{key.record.public_id}", None)


def test_no_key_is_the_owner_on_a_local_server_alone() -> None:
    """Documented: serve --local needs no key; any other server refuses without one."""
    assert authenticate(None, clock=FixedClock(), local=True) == local_caller()
    assert refusal(None) == "unauthenticated"


def test_a_key_is_checked_on_a_local_server_too() -> None:
    """Ours: a wrong key never falls back to the owner's rights."""
    key = a_key()
    assert authenticate(key.text, clock=FixedClock(), local=True).role is Role.READER
    assert refusal("msk_AbCd1234_" + "x" * 32, local=True) == "unauthenticated"


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[:-1],
        lambda text: text + "x",
        lambda text: text[:-1] + ("a" if text[-1] != "a" else "b"),
        lambda text: text.upper(),
        lambda text: text + "\n",
        lambda text: "msk_" + text[4:12] + "_" + "\x00" * 32,
        lambda text: text[4:],
        lambda text: "msk_zzzzzzzz" + text[12:],
        lambda text: text * 2000,
    ],
)
def test_a_text_that_is_not_quite_the_key_is_refused(damage: Callable[[str], str]) -> None:
    """Ours: the whole key counts, and its shape is checked before anything is looked up."""
    assert refusal(damage(a_key().text)) == "unauthenticated"


def test_a_revoked_key_is_refused_by_the_next_request() -> None:
    """Documented: revocation acts on the next request; a stranger's key goes on."""
    key, other = a_key(), a_key()
    signed_in(key)
    keys.revoke_key(local_caller(), key.record.public_id, clock=FixedClock())
    assert refusal(key.text) == "unauthenticated"
    assert signed_in(other).key_id == other.record.public_id


def test_a_disabled_person_loses_every_key_at_once() -> None:
    """Documented: rights are always now."""
    key = a_key(Role.PERSONAL, person="priya")
    signed_in(key)
    Person.objects.filter(username="priya").update(is_active=False)
    assert refusal(key.text) == "unauthenticated"


def test_changed_groups_act_on_the_next_request() -> None:
    """Documented: a membership change touches one caller."""
    key = a_key(groups=("west",))
    ApiKey.objects.update(groups=["east"])
    assert signed_in(key).groups == ("east",)


def test_an_expired_key_says_so_to_its_holder_alone() -> None:
    """Documented: token_expired at the moment of expiry; a guessed secret learns nothing."""
    key = a_key(expires_at=Micros(NOON + HOUR))
    clock = FixedClock(Micros(NOON + HOUR - 1))
    assert signed_in(key, clock).key_id == key.record.public_id
    clock.forward(1)
    assert refusal(key.text, clock=clock) == "token_expired"
    assert refusal(key.text[:-4] + "0000", clock=clock) == "unauthenticated"


def test_a_check_is_one_select_and_an_update_an_hour(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    """Ours: the price of no cache is one statement; the last use is right to an hour."""
    key, clock = a_key(), FixedClock()
    with django_assert_num_queries(2):
        signed_in(key, clock)
    clock.forward(HOUR - 1)
    with django_assert_num_queries(1):
        signed_in(key, clock)
    clock.forward(1)
    with django_assert_num_queries(2):
        signed_in(key, clock)
    assert ApiKey.objects.get().last_used_at == NOON + HOUR


def test_a_dump_of_the_database_holds_no_key(caplog: pytest.LogCaptureFixture) -> None:
    """Documented: keys are stored as digests alone; logs and reprs hold none either."""
    key = a_key(Role.PERSONAL, person="priya")
    caplog.set_level("DEBUG")
    keys.revoke_key(local_caller(), key.record.public_id, clock=FixedClock())
    refusal(key.text)
    secret = key.text.rsplit("_", 1)[1]
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        assert "accounts_apikey" in tables
        for table in tables:
            cursor.execute(f'SELECT t::text FROM "{table}" t')
            assert not [row for (row,) in cursor.fetchall() if secret in row]
    assert secret not in repr(key)
    assert key.record.public_id in caplog.text
    assert secret not in caplog.text


def test_a_caller_that_was_let_in_stands_as_long_as_its_key_would_be_let_in() -> None:
    """Ours: work that goes on after its request ends with its key."""
    clock = FixedClock()
    revoked, dying, disabled = (
        a_key(),
        a_key(expires_at=Micros(NOON + HOUR)),
        a_key(Role.PERSONAL, person="priya"),
    )
    callers = [signed_in(key) for key in (revoked, dying, disabled)]
    assert [still_stands(caller, clock=clock) for caller in callers] == [True] * 3
    keys.revoke_key(local_caller(), revoked.record.public_id, org=None, clock=clock)
    Person.objects.filter(username="priya").update(is_active=False)
    clock.forward(HOUR)
    assert [still_stands(caller, clock=clock) for caller in callers] == [False] * 3
    assert still_stands(local_caller(), clock=clock)
