"""Make, list and revoke keys."""

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import QuerySet

from accounts.domain.addressing import refuse_other_org
from accounts.domain.caller import Caller
from accounts.domain.errors import NameTaken
from accounts.domain.key import KeyDraft, KeyPage, KeyRecord, NewKey
from accounts.domain.key_rules import ANY_ORG, check_draft
from accounts.domain.key_text import draw_key, is_public_id
from accounts.domain.names import DEFAULT_ORG
from accounts.domain.roles import Action, Role
from accounts.models import ApiKey, Org, Person
from accounts.services.audit import record_change
from accounts.services.orgs import find_org, find_team
from accounts.services.permissions import require_right
from ampup_site.kernel.clock import Clock, Micros
from ampup_site.kernel.errors import Forbidden, NotFound

MOST_LISTED = 200


def create_key(
    caller: Caller, draft: KeyDraft, *, clock: Clock, default_org: str = DEFAULT_ORG
) -> NewKey:
    """Make a key; its text is in the answer and nowhere else.

    An administrator of one org or team makes keys for it alone, and never one that reaches
    further than they do.

    Raises:
        Forbidden: the caller is no administrator, or one of another team.
        WrongOrg: the caller is an administrator of another org.
        NoSuchScope: there is no such org or team.
        NameTaken: the person belongs to another org than the caller administers.
        BadRequest, BadScope: a value of the draft cannot be taken.
    """
    require_right(caller, Action.ADMINISTER)
    now = clock.now()
    checked = check_draft(draft, now=now)
    home = _home(caller, checked.org, default_org=default_org)
    team_name = _team(caller, checked.team)
    text = draw_key()
    with transaction.atomic(durable=True):
        org = None if home is None else find_org(home)
        row = ApiKey.objects.create(
            public_id=text.public_id,
            digest=text.digest,
            role=checked.role.value,
            org=org,
            team=None if org is None or team_name is None else find_team(org, team_name),
            person=None if checked.person is None else _person(caller, checked.person, org),
            groups=list(checked.groups),
            roles=list(checked.roles),
            default_acl=None if checked.default_acl is None else list(checked.default_acl),
            toolset=checked.toolset,
            label=checked.label,
            created_by=caller.author,
            created_at=now,
            expires_at=checked.expires_at,
        )
        record = _record(row)
        _audit(caller, "key.create", record, at=now)
    return NewKey(record, text.text)


def list_keys(
    caller: Caller, *, org: str | None = None, k: int = MOST_LISTED, cursor: str | None = None
) -> KeyPage:
    """Return the keys of what the caller administers, the newest first, revoked ones too.

    With `org`, that org's alone.

    A page has 1 to 200; `cursor` is the `next_cursor` of the page before.

    Raises:
        Forbidden: the caller is no administrator.
        WrongOrg: the caller is an administrator of another org.
        NotFound: the cursor is none of this list.
    """
    require_right(caller, Action.ADMINISTER)
    rows = _administered(caller, org)
    if cursor is not None:
        rows = rows.filter(id__lt=_found(rows, cursor, field="cursor").pk)
    wanted = max(1, min(k, MOST_LISTED))
    found = list(rows.order_by("-id")[: wanted + 1])
    keys = tuple(_record(row) for row in found[:wanted])
    return KeyPage(keys, keys[-1].public_id if len(found) > wanted else None)


def revoke_key(
    caller: Caller, public_id: str, *, clock: Clock, org: str | None = None
) -> KeyRecord:
    """End a key; the next request with it is refused in every process. A repeat changes nothing.

    Raises:
        Forbidden: the caller is no administrator.
        WrongOrg: the caller is an administrator of another org than `org`.
        NotFound: there is no such key among those the caller administers, of `org` if given.
    """
    require_right(caller, Action.ADMINISTER)
    now = clock.now()
    with transaction.atomic(durable=True):
        row = _found(
            _administered(caller, org).select_for_update(of=("self",)), public_id, field="id"
        )
        if row.revoked_at is None:
            row.revoked_at = now
            row.save(update_fields=["revoked_at"])
            _audit(caller, "key.revoke", _record(row), at=now)
    return _record(row)


def _home(caller: Caller, org: str | None, *, default_org: str) -> str | None:
    """Return the org of a new key, None for a key of every org.

    Who names no org gets a key of one: reaching every org is asked for, never fallen into.
    """
    if org is None:
        return caller.org or default_org
    refuse_other_org(caller, org)
    return None if org == ANY_ORG else org


def _team(caller: Caller, team: str | None) -> str | None:
    if caller.team is None:
        return team
    if team not in (None, caller.team):
        message = "team is not the one you administer; leave it out or use your own."
        raise Forbidden(message, field="team")
    return caller.team


def _person(caller: Caller, username: str, org: Org | None) -> Person:
    person, _ = Person.objects.get_or_create(
        username=username, defaults={"org": org, "password": make_password(None)}
    )
    if caller.org is not None and (person.org is None or person.org.name != caller.org):
        message = "personal names someone of another org; choose another user id."
        raise NameTaken(message, field="personal")
    return person


def _administered(caller: Caller, org: str | None) -> QuerySet[ApiKey]:
    rows = ApiKey.objects.select_related("org", "team", "person")
    if org is not None:
        refuse_other_org(caller, org)
    home = org or caller.org
    if home is not None:
        rows = rows.filter(org__name=home)
    if caller.team is not None:
        rows = rows.filter(team__name=caller.team)
    return rows


def _found(rows: QuerySet[ApiKey], public_id: str, *, field: str) -> ApiKey:
    row = rows.filter(public_id=public_id).first() if is_public_id(public_id) else None
    if row is None:
        raise NotFound(f"{field} names no key you administer; list them to see.", field=field)
    return row


def _audit(caller: Caller, action: str, key: KeyRecord, *, at: Micros) -> None:
    record_change(
        caller,
        action=action,
        target=f"key:{key.public_id}",
        detail={
            "role": key.role.value,
            "org": key.org,
            "team": key.team,
            "person": key.person,
            "groups": list(key.groups),
            "roles": list(key.roles),
            "expires_at": key.expires_at,
        },
        at=at,
    )


def _record(row: ApiKey) -> KeyRecord:
    return KeyRecord(
        public_id=row.public_id,
        role=Role(row.role),
        org=row.org.name if row.org else None,
        team=row.team.name if row.team else None,
        person=row.person.username if row.person else None,
        groups=tuple(row.groups),
        roles=tuple(row.roles),
        default_acl=None if row.default_acl is None else tuple(row.default_acl),
        toolset=row.toolset,
        label=row.label,
        created_by=row.created_by,
        created_at=Micros(row.created_at),
        expires_at=None if row.expires_at is None else Micros(row.expires_at),
        revoked_at=None if row.revoked_at is None else Micros(row.revoked_at),
        last_used_at=None if row.last_used_at is None else Micros(row.last_used_at),
    )
