"""What can be wrong with who asks, or with the scope that is asked for."""

from ampup_site.kernel.errors import AmpUpError, ErrorKind


class BadScope(AmpUpError):
    """The text is no scope, org, team or user id."""

    code = "bad_scope"


class ScopeConflict(AmpUpError):
    """Two places of one request name different scopes."""

    code = "scope_conflict"


class TokenExpired(AmpUpError):
    """The key was good until its expiry; make a new one."""

    kind = ErrorKind.UNAUTHENTICATED
    code = "token_expired"


class WrongOrg(AmpUpError):
    """The key belongs to one org and asked for another."""

    kind = ErrorKind.FORBIDDEN
    code = "wrong_org"


class NoPerson(AmpUpError):
    """The call needs a person of the caller's own, and the caller is none."""

    kind = ErrorKind.FORBIDDEN
    code = "no_person"


class NoSuchScope(AmpUpError):
    """The org or team does not exist; reading or writing does not make one."""

    kind = ErrorKind.NOT_FOUND
    code = "no_such_scope"


class NameTaken(AmpUpError):
    """An org, team or person of that name exists already."""

    kind = ErrorKind.CONFLICT
    code = "name_taken"
