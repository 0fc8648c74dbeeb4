"""`team create|list`: parts of an org with a memory of their own."""

from dataclasses import asdict
from typing import Any, ClassVar

from django.core.management.base import CommandParser
from typing_extensions import override

from accounts.domain.caller import local_caller
from accounts.management.moments import readable_times
from accounts.management.report import AccountsCommand, add_json
from accounts.services import orgs
from accounts.wiring import door


class Command(AccountsCommand):
    """Make and list teams."""

    help = "make and list teams, such as: team create sales --org acme"

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        """Add the subcommands."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make a team")
        create.add_argument("team", help="lower-case letters, digits, single underscores")
        create.add_argument("--org", help="the org it is of; without, the default org")
        listing = verbs.add_parser("list", help="list the teams")
        listing.add_argument("--org", help="of this org alone")
        for verb in (create, listing):
            add_json(verb)

    def create_one(self, options: dict[str, Any]) -> None:
        """Make a team."""
        entrance = door()
        made = orgs.create_team(
            local_caller(),
            name=options["team"],
            org=options["org"],
            clock=entrance.clock,
            default_org=entrance.default_org,
        )
        if options["json"]:
            self.show(asdict(made), as_json=True, columns=())
        else:
            self.stdout.write(f"team {made.team} of org {made.org} made")

    def list_all(self, options: dict[str, Any]) -> None:
        """Write the teams."""
        rows = [asdict(team) for team in orgs.list_teams(local_caller(), org=options["org"])]
        as_json = options["json"]
        shown = rows if as_json else [readable_times(row) for row in rows]
        self.show(shown, as_json=as_json, columns=("org", "team", "created_at"))

    verbs: ClassVar = {"create": create_one, "list": list_all}
