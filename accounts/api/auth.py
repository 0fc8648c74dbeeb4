"""Who a request's caller is and which scope it means, for every HTTP surface."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from django.http import HttpRequest
from rest_framework.request import Request

from accounts.domain.addressing import agreed_name, only, resolve_scope
from accounts.domain.caller import Caller
from accounts.domain.errors import ScopeConflict
from accounts.domain.scope import Scope
from accounts.services.authenticate import authenticate
from accounts.wiring import door
from ampup_site.kernel.errors import Unauthenticated

ORG_HEADERS: Final = ("x-memstore-org", "x-ampup-memory-org")
TEAM_HEADERS: Final = ("x-memstore-team", "x-ampup-memory-team")

_BEARER = re.compile(r"bearer +(\S+)", re.IGNORECASE)


def caller_of(request: HttpRequest | Request) -> Caller:
    """Return the caller of a request, authenticated now.

    Raises:
        Unauthenticated, TokenExpired: as `authenticate`.
    """
    entrance = door()
    token = bearer_token(request.headers.get("authorization"))
    return authenticate(token, clock=entrance.clock, local=entrance.local)


def bearer_token(authorization: str | None) -> str | None:
    """Return the token of an `Authorization` header, None if there is no such header.

    Raises:
        Unauthenticated: the header is there and is no Bearer token, `serve --local` included.
    """
    if authorization is None:
        return None
    match = _BEARER.fullmatch(authorization.strip())
    if match is None:
        message = "authorization must read: Bearer, a blank, and one key."
        raise Unauthenticated(message, field="authorization")
    return match.group(1)


def scope_of(request: HttpRequest | Request, caller: Caller) -> Scope:
    """Return the scope a request means; `require` tells whether it exists and is allowed.

    Raises:
        BadScope, ScopeConflict, WrongOrg, NoPerson: as `resolve_scope`.
    """
    query = {name: request.GET.getlist(name) for name in ("org", "team", "scope")}
    return scope_from(caller, headers=request.headers, query=query)


def org_of(request: HttpRequest | Request, *, body: str | None) -> str | None:
    """Return the org that headers, URL or body name, None if none does.

    Raises:
        BadScope: it is no name.
        ScopeConflict: two of them differ.
    """
    header = _header(request.headers, ORG_HEADERS, field="org")
    query = only(tuple(request.GET.getlist("org")), field="org")
    return agreed_name(header, query, body, field="org")


def scope_from(
    caller: Caller, *, headers: Mapping[str, str], query: Mapping[str, Sequence[str]]
) -> Scope:
    """Return the scope that headers and query mean; the part of `scope_of` without Django.

    Header names are in lower case, and both spellings of one may be there if they agree;
    `query` has every value of `org`, `team` and `scope`.

    Raises:
        BadScope, ScopeConflict, WrongOrg, NoPerson: as `resolve_scope`.
    """
    return resolve_scope(
        caller,
        header_org=_header(headers, ORG_HEADERS, field="org"),
        query_org=only(tuple(query.get("org", ())), field="org"),
        header_team=_header(headers, TEAM_HEADERS, field="team"),
        query_team=only(tuple(query.get("team", ())), field="team"),
        query_scope=only(tuple(query.get("scope", ())), field="scope"),
        default_org=door().default_org,
    )


def _header(headers: Mapping[str, str], names: tuple[str, ...], *, field: str) -> str | None:
    given = tuple(headers[name] for name in names if name in headers)
    if len(set(given)) > 1:
        message = f"{field} is given in two headers, and they differ; give one."
        raise ScopeConflict(message, field=field)
    return given[0] if given else None
