"""Make and list orgs and teams."""

from django.db import IntegrityError, transaction

from accounts.domain.addressing import refuse_other_org
from accounts.domain.caller import Caller
from accounts.domain.errors import NameTaken, NoSuchScope
from accounts.domain.names import DEFAULT_ORG, check_name, check_new_org
from accounts.domain.org import OrgRecord, TeamRecord
from accounts.domain.roles import Action
from accounts.models import Org, Team
from accounts.services.audit import record_change
from accounts.services.permissions import require_right
from ampup_site.kernel.clock import Clock, Micros
from ampup_site.kernel.errors import Forbidden


def create_org(caller: Caller, *, name: str, clock: Clock) -> OrgRecord:
    """Make an org; its memory comes into being with its first write.

    Raises:
        Forbidden: the caller is no administrator, or one of a single org.
        BadScope: `name` is outside the grammar.
        NameTaken: there is such an org.
    """
    require_right(caller, Action.ADMINISTER)
    if caller.org is not None:
        message = "org can be made by an administrator of the whole server alone."
        raise Forbidden(message, field="org")
    check_new_org(name)
    now = clock.now()
    try:
        with transaction.atomic(durable=True):
            Org.objects.create(name=name, created_at=now)
            record_change(caller, action="org.create", target=f"org:{name}", detail={}, at=now)
    except IntegrityError as error:
        message = f"org {name} exists already; choose another name."
        raise NameTaken(message, field="org") from error
    return OrgRecord(name, now)


def create_team(
    caller: Caller,
    *,
    name: str,
    clock: Clock,
    org: str | None = None,
    default_org: str = DEFAULT_ORG,
) -> TeamRecord:
    """Make a team of `org`: None means the caller's own, or the default org.

    Raises:
        Forbidden: the caller is no administrator, or one of a single team.
        WrongOrg: the caller is an administrator of another org.
        NoSuchScope: there is no such org.
        BadScope: a name is outside the grammar.
        NameTaken: the org has such a team.
    """
    require_right(caller, Action.ADMINISTER)
    home = check_name(org or caller.org or default_org, field="org")
    refuse_other_org(caller, home)
    if caller.team is not None:
        raise Forbidden("team can be made by an administrator of its org alone.", field="team")
    check_name(name, field="team")
    now = clock.now()
    try:
        with transaction.atomic(durable=True):
            Team.objects.create(org=find_org(home), name=name, created_at=now)
            target = f"team:{home}/{name}"
            record_change(caller, action="team.create", target=target, detail={}, at=now)
    except IntegrityError as error:
        message = f"team {name} of org {home} exists already; choose another name."
        raise NameTaken(message, field="team") from error
    return TeamRecord(home, name, now)


def list_orgs(caller: Caller) -> tuple[OrgRecord, ...]:
    """Return the orgs the caller administers, by name.

    Raises:
        Forbidden: the caller is no administrator.
    """
    require_right(caller, Action.ADMINISTER)
    orgs = Org.objects.all() if caller.org is None else Org.objects.filter(name=caller.org)
    return tuple(OrgRecord(org.name, Micros(org.created_at)) for org in orgs)


def list_teams(caller: Caller, *, org: str | None = None) -> tuple[TeamRecord, ...]:
    """Return the teams of an org, or of every org the caller administers, by name.

    Raises:
        Forbidden: the caller is no administrator.
        WrongOrg: the caller is an administrator of another org.
        NoSuchScope: there is no such org.
    """
    require_right(caller, Action.ADMINISTER)
    home = org or caller.org
    teams = Team.objects.select_related("org")
    if home is not None:
        refuse_other_org(caller, check_name(home, field="org"))
        teams = teams.filter(org=find_org(home))
    if caller.team is not None:
        teams = teams.filter(name=caller.team)
    return tuple(TeamRecord(team.org.name, team.name, Micros(team.created_at)) for team in teams)


def find_org(name: str) -> Org:
    """Return an org's row, for the services of this app alone.

    Raises:
        NoSuchScope: there is none.
    """
    row = Org.objects.filter(name=name).first()
    if row is None:
        raise NoSuchScope("org does not exist; an administrator can make it.", field="org")
    return row


def find_team(org: Org, name: str) -> Team:
    """Return a team's row, for the services of this app alone.

    Raises:
        NoSuchScope: the org has none.
    """
    row = Team.objects.filter(org=org, name=name).first()
    if row is None:
        raise NoSuchScope("team does not exist; an administrator can make it.", field="team")
    return row


def ensure_default_org(name: str = DEFAULT_ORG, *, clock: Clock) -> None:
    """Make the org that requests without one mean, if it is not there.

    The first migration makes `default`; a server configured for another name calls this once
    when it starts.

    Raises:
        BadScope: `name` is outside the grammar.
    """
    check_new_org(name)
    Org.objects.get_or_create(name=name, defaults={"created_at": clock.now()})
