"""REST for orgs and teams."""

from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.auth import caller_of, org_of
from accounts.api.body import Body, read_body
from accounts.api.parameters import check_parameters
from accounts.api.view import PlainView
from accounts.services import orgs
from accounts.wiring import door


class OrgIn(Body):
    """A name for an org."""

    org: str


class TeamIn(Body):
    """A name for a team; `org` may stand in the header or URL instead."""

    team: str
    org: str | None = None


class OrgsView(PlainView):
    """`POST /orgs`."""

    def post(self, request: Request) -> Response:
        """Make an org."""
        caller = caller_of(request)
        check_parameters(request)
        body = read_body(request, OrgIn)
        made = orgs.create_org(caller, name=body.org, clock=door().clock)
        return Response({"org": made.org, "created_at": made.created_at}, status=201)


class TeamsView(PlainView):
    """`POST /teams`."""

    def post(self, request: Request) -> Response:
        """Make a team of an org."""
        caller = caller_of(request)
        check_parameters(request, "org")
        body = read_body(request, TeamIn)
        entrance = door()
        made = orgs.create_team(
            caller,
            name=body.team,
            org=org_of(request, body=body.org),
            clock=entrance.clock,
            default_org=entrance.default_org,
        )
        answer = {"org": made.org, "team": made.team, "created_at": made.created_at}
        return Response(answer, status=201)
