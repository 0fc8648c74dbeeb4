"""Which scope a request means: headers, query, the key's own binding, then the default org."""

from accounts.domain.caller import Caller
from accounts.domain.errors import BadScope, NoPerson, ScopeConflict, WrongOrg
from accounts.domain.names import DEFAULT_ORG, check_name
from accounts.domain.scope import Scope, ScopeKind, parse_scope

MINE = "mine"
"""The spelling of a person's own scope; concepts, "Scopes"."""

_LONGEST_SPELLING = 256


def resolve_scope(
    caller: Caller,
    *,
    header_org: str | None = None,
    query_org: str | None = None,
    header_team: str | None = None,
    query_team: str | None = None,
    query_scope: str | None = None,
    default_org: str = DEFAULT_ORG,
) -> Scope:
    """Return the scope that a request addresses; whether it exists is not looked at.

    An empty text counts as given, so that a client's unset variable is refused instead of
    widening a team's request to its org.

    Raises:
        BadScope: a name or spelling outside the grammar.
        ScopeConflict: header and query differ, or `scope` names another org or team.
        WrongOrg: the caller belongs to one org and asked for another.
        NoPerson: `scope=mine` of a caller that is no person.

    Source: specification, section 2.
    """
    org = agreed_name(header_org, query_org, field="org")
    team = agreed_name(header_team, query_team, field="team")
    if org is not None:
        refuse_other_org(caller, org)
    if query_scope is not None:
        return _spelled(caller, query_scope, org=org, team=team, default_org=default_org)
    home = org or caller.org or default_org
    if team is None and home == caller.org:
        team = caller.team
    return Scope.team_scope(org=home, team=team) if team else Scope.org_scope(home)


def refuse_other_org(caller: Caller, org: str) -> None:
    """Refuse an org the caller may not use, in the same words whether it exists or not.

    Raises:
        WrongOrg: the caller belongs to one org, and it is not this.
    """
    if caller.org is not None and caller.org != org:
        message = "org is not the one this key belongs to; leave it out or use the key's own."
        raise WrongOrg(message, field="org")


def agreed_name(*places: str | None, field: str) -> str | None:
    """Return the org or team that the places of a request name, None if none of them does.

    Raises:
        ScopeConflict: two places differ.
        BadScope: it is no name.
    """
    given = {place for place in places if place is not None}
    if len(given) > 1:
        message = f"{field} is given in two places of the request, and they differ; give one."
        raise ScopeConflict(message, field=field)
    return check_name(given.pop(), field=field) if given else None


def _spelled(
    caller: Caller, spelling: str, *, org: str | None, team: str | None, default_org: str
) -> Scope:
    if spelling == MINE:
        if caller.user is None:
            message = "scope=mine needs a key of a person's own; this caller is no person."
            raise NoPerson(message, field="scope")
        scope = Scope.user_scope(caller.user)
    else:
        scope = parse_scope(spelling, default_org=org or caller.org or default_org)
    _refuse_contradiction(scope, org=org, team=team)
    return scope


def _refuse_contradiction(scope: Scope, *, org: str | None, team: str | None) -> None:
    """Refuse a scope beside an org or team it is not in.

    A person's own scope stands beside whatever org or team their client is set to.
    """
    if scope.kind is ScopeKind.USER:
        return
    if (org is not None and org != scope.org) or (team is not None and team != scope.team):
        message = "scope names another org or team than the request does elsewhere; give one."
        raise ScopeConflict(message, field="scope")


def only(values: tuple[str, ...], *, field: str) -> str | None:
    """Return the one value a parameter was given, None if it was not.

    Raises:
        ScopeConflict: it was given twice with different values.
        BadScope: it is too long to be anything.
    """
    if not values:
        return None
    if len(set(values)) > 1:
        raise ScopeConflict(f"{field} is given more than once; give one.", field=field)
    if len(values[0]) > _LONGEST_SPELLING:
        raise BadScope(f"{field} is too long to be a scope.", field=field)
    return values[0]
