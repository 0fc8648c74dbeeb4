"""The only yes or no: may this caller do this in this scope?"""

from accounts.domain.addressing import refuse_other_org, resolve_scope
from accounts.domain.caller import Caller
from accounts.domain.errors import NoSuchScope
from accounts.domain.names import DEFAULT_ORG
from accounts.domain.roles import Action, Role, allows
from accounts.domain.scope import Scope, ScopeKind
from accounts.models import Org, Person, Team
from ampup_site.kernel.errors import Forbidden

__all__ = ["require", "require_right", "resolve_scope"]


def require(caller: Caller, action: Action, scope: Scope) -> None:
    """Refuse what the caller may not do in `scope`, and scopes that do not exist.

    Whether another org or person exists is not told: whose a scope is comes before whether
    it is there. At most one SELECT, and none for the default org, a key's own org or team, or
    a person's own scope.

    Raises:
        Forbidden: the role may not, the key is bound to another team, or the scope is another
            person's.
        WrongOrg: the key is bound to another org.
        NoSuchScope: the caller could use it if it were there.
    """
    require_right(caller, action)
    _refuse_foreign(caller, scope)
    if not _exists(caller, scope):
        message = f"{scope.kind.value} does not exist; an administrator can make it."
        raise NoSuchScope(message, field=scope.kind.value)


def require_right(caller: Caller, action: Action) -> None:
    """Refuse what the caller's role may do nowhere.

    Raises:
        Forbidden: it may not.
    """
    if not allows(caller.role, action):
        message = f"a caller of role {caller.role.value} may not {action.value.replace('_', ' ')}."
        raise Forbidden(message)


def _refuse_foreign(caller: Caller, scope: Scope) -> None:
    if scope.kind is ScopeKind.USER:
        if caller.role is not Role.LOCAL and caller.user != scope.user:
            raise Forbidden("scope is a person's own, and only they may use it.", field="scope")
        return
    refuse_other_org(caller, str(scope.org))
    if caller.team is not None and caller.team != scope.team:
        message = "team is not the one this key belongs to; leave it out or use the key's own."
        raise Forbidden(message, field="team")


def _exists(caller: Caller, scope: Scope) -> bool:
    if scope.kind is ScopeKind.USER:
        return caller.user == scope.user or Person.objects.filter(username=scope.user).exists()
    if scope.kind is ScopeKind.ORG:
        known = scope.org in (DEFAULT_ORG, caller.org)
        return known or Org.objects.filter(name=scope.org).exists()
    known = (scope.org, scope.team) == (caller.org, caller.team)
    return known or Team.objects.filter(org__name=scope.org, name=scope.team).exists()
