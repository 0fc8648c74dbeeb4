"""What holds outside a test's own transaction: durable changes and races."""

import threading

import pytest
from django.db import connection

from accounts.domain.caller import local_caller
from accounts.domain.errors import NameTaken
from accounts.models import ApiKey, AuditRow, Org
from accounts.services import keys, orgs
from accounts.services.authenticate import authenticate
from ampup_site.kernel.errors import AmpUpError
from tests.accounts.builders import FixedClock, a_key, an_org

pytestmark = pytest.mark.django_db(transaction=True)


def test_of_many_who_make_one_org_at_once_one_does() -> None:
    """Ours: the others learn that the name is taken, and the trail has one row."""
    start, outcomes = threading.Barrier(4), []

    def make() -> None:
        start.wait(timeout=10)
        try:
            outcomes.append(orgs.create_org(local_caller(), name="acme", clock=FixedClock()).org)
        except NameTaken as error:
            outcomes.append(error.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(outcomes) == ["acme", "name_taken", "name_taken", "name_taken"]
    assert Org.objects.filter(name="acme").count() == 1
    assert AuditRow.objects.filter(action="org.create", target="org:acme").count() == 1


def test_a_revocation_acts_on_another_connection_at_once() -> None:
    """Documented: revoke is effective on the next request in every process."""
    an_org("acme", "sales")
    key = a_key(org="acme", team="sales")
    answers: list[str] = []

    def ask() -> None:
        try:
            answers.append(authenticate(key.text, clock=FixedClock(), local=False).author)
        except AmpUpError as error:
            answers.append(error.code)
        finally:
            connection.close()

    for revoke in (False, True):
        if revoke:
            keys.revoke_key(local_caller(), key.record.public_id, clock=FixedClock())
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join(timeout=30)
    assert answers == [f"key:{key.record.public_id}", "unauthenticated"]
    assert ApiKey.objects.get().revoked_at is not None
