"""REST for keys."""

import re
from typing import Literal

from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.auth import caller_of, org_of
from accounts.api.body import Body, read_body, refuse_body
from accounts.api.parameters import check_parameters
from accounts.api.view import PlainView
from accounts.domain.key import KeyDraft
from accounts.domain.key_json import key_json
from accounts.domain.key_rules import ANY_ORG
from accounts.domain.roles import Role
from accounts.services import keys
from accounts.wiring import door
from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import BadRequest


class KeyIn(Body):
    """What a key is to be; `personal` is a user id and implies the role personal."""

    role: Literal["reader", "ingest", "recorder", "service", "personal", "admin"] | None = None
    toolset: str = "ampup"
    org: str | None = None
    team: str | None = None
    personal: str | None = None
    groups: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    default_acl: tuple[str, ...] | None = None
    label: str = ""
    expires_at: int | None = None


class KeysView(PlainView):
    """`POST /keys` and `GET /keys`."""

    def post(self, request: Request) -> Response:
        """Make a key; the answer holds its text, this once."""
        caller = caller_of(request)
        check_parameters(request, "org")
        draft = _draft(request, read_body(request, KeyIn))
        entrance = door()
        made = keys.create_key(
            caller, draft, clock=entrance.clock, default_org=entrance.default_org
        )
        return _private({"key": made.text, **key_json(made.record)}, status=201)

    def get(self, request: Request) -> Response:
        """List the keys the caller administers: `k` up to 200, `cursor` for the next page."""
        caller = caller_of(request)
        check_parameters(request, "org", "k", "cursor")
        page = keys.list_keys(
            caller,
            org=org_of(request, body=None),
            k=_count(request),
            cursor=_parameter(request, "cursor"),
        )
        rows = [key_json(key) for key in page.keys]
        return _private({"results": rows, "next_cursor": page.next_cursor})


class KeyView(PlainView):
    """`DELETE /keys/{id}`."""

    def delete(self, request: Request, public_id: str) -> Response:
        """Revoke a key; its row stays, and a repeat answers the same."""
        caller = caller_of(request)
        check_parameters(request, "org")
        refuse_body(request)
        org = org_of(request, body=None)
        revoked = keys.revoke_key(caller, public_id, org=org, clock=door().clock)
        return _private(key_json(revoked))


def _draft(request: Request, body: KeyIn) -> KeyDraft:
    role = body.role or ("personal" if body.personal is not None else None)
    if role is None:
        raise BadRequest("role must be given, or personal with a user id.", field="role")
    return KeyDraft(
        role=Role(role),
        org=_org(request, body.org),
        team=body.team,
        person=body.personal,
        groups=body.groups,
        roles=body.roles,
        default_acl=body.default_acl,
        toolset=body.toolset,
        label=body.label,
        expires_at=None if body.expires_at is None else Micros(body.expires_at),
    )


def _org(request: Request, org: str | None) -> str | None:
    """Return the key's org; a body that asks for every org is taken at its word."""
    return org if org == ANY_ORG else org_of(request, body=org)


def _count(request: Request) -> int:
    text = _parameter(request, "k") or str(keys.MOST_LISTED)
    if re.fullmatch(r"[1-9][0-9]{0,2}", text) is None or int(text) > keys.MOST_LISTED:
        raise BadRequest(f"k must be 1 to {keys.MOST_LISTED}.", field="k")
    return int(text)


def _parameter(request: Request, name: str) -> str | None:
    values = request.GET.getlist(name)
    if len(values) > 1:
        raise BadRequest(f"{name} is given more than once; give one.", field=name)
    return values[0] if values else None


def _private(answer: dict[str, object], *, status: int = 200) -> Response:
    return Response(answer, status=status, headers={"Cache-Control": "no-store"})
