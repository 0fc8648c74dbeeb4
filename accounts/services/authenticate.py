"""From a bearer key to the caller it stands for, anew for each request."""

import hmac
import logging

from django.db.models import Q

from accounts.domain.caller import Caller, local_caller
from accounts.domain.errors import TokenExpired
from accounts.domain.key_text import KeyText, read_key
from accounts.domain.roles import Role
from accounts.models import ApiKey
from ampup_site.kernel.clock import Clock, Micros
from ampup_site.kernel.errors import Unauthenticated

logger = logging.getLogger(__name__)

_USE_GRAIN = 3_600_000_000  # microseconds; a key's last use is written once an hour at most
_NO_DIGEST = bytes(32)


def authenticate(token: str | None, *, clock: Clock, local: bool) -> Caller:
    """Return the caller a key stands for; one SELECT, and never a cached answer.

    So a revoked key, a disabled person and a changed group act on the next request of every
    process. A key in `local` mode is checked as ever.

    Args:
        token: the text after `Bearer `; None if the request brought none.
        clock: expiry is told by it.
        local: whether the server is `serve --local`, where no key means its owner.

    Raises:
        Unauthenticated: no key, or one that is malformed, unknown, revoked or of a disabled
            person; the answer does not say which.
        TokenExpired: a key that was right, after its expiry.
    """
    if token is None and local:
        return local_caller()
    key = read_key(token) if token is not None else None
    if key is None:
        message = "authorization must be a Bearer key of this server; ask an administrator for one."
        raise Unauthenticated(message, field="authorization")
    row = _matching(key)
    now = clock.now()
    if row.expires_at is not None and row.expires_at <= now:
        logger.info("key %s refused: expired", key.public_id)
        message = "authorization is a key past its expiry; ask an administrator for a new one."
        raise TokenExpired(message, field="authorization")
    _note_use(row, now)
    return _caller(row)


def still_stands(caller: Caller, *, clock: Clock) -> bool:
    """Tell whether a caller that was let in before would be let in now.

    False once its key was revoked or has expired, or its person was disabled; a caller without
    a key is the server's owner.
    """
    if caller.key_id is None:
        return True
    row = ApiKey.objects.select_related("person").filter(public_id=caller.key_id).first()
    if row is None or row.revoked_at is not None or _is_disabled(row):
        return False
    return row.expires_at is None or row.expires_at > clock.now()


def _matching(key: KeyText) -> ApiKey:
    row = (
        ApiKey.objects.select_related("org", "team", "person")
        .filter(public_id=key.public_id)
        .first()
    )
    digest = _NO_DIGEST if row is None else bytes(row.digest)
    same = hmac.compare_digest(digest, key.digest)
    if row is None or not same or row.revoked_at is not None or _is_disabled(row):
        logger.info("key %s refused", key.public_id)
        message = "authorization is no valid key; it is unknown or was revoked."
        raise Unauthenticated(message, field="authorization")
    return row


def _is_disabled(row: ApiKey) -> bool:
    return row.person is not None and not row.person.is_active


def _note_use(row: ApiKey, now: Micros) -> None:
    """Write the hour of the last use; of simultaneous requests one writes."""
    if row.last_used_at is not None and now - row.last_used_at < _USE_GRAIN:
        return
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - _USE_GRAIN)
    ApiKey.objects.filter(stale, pk=row.pk).update(last_used_at=now)


def _caller(row: ApiKey) -> Caller:
    role = Role(row.role)
    return Caller(
        author=_author(row, role),
        role=role,
        org=row.org.name if row.org else None,
        team=row.team.name if row.team else None,
        user=row.person.username if row.person else None,
        groups=tuple(row.groups),
        roles=tuple(row.roles),
        default_acl=None if row.default_acl is None else tuple(row.default_acl),
        key_id=row.public_id,
        time_zone=row.person.time_zone if row.person else "UTC",
    )


def _author(row: ApiKey, role: Role) -> str:
    if row.person is not None:
        return f"user:{row.person.username}"
    kind = "service" if role is Role.SERVICE else "key"
    return f"{kind}:{row.public_id}"
