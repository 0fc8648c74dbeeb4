"""`org create|list`: the tenants."""

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
    """Make and list orgs."""

    help = "make and list orgs, such as: org create acme"

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        """Add the subcommands."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make an org")
        create.add_argument("org", help="lower-case letters, digits, single underscores")
        listing = verbs.add_parser("list", help="list the orgs")
        for verb in (create, listing):
            add_json(verb)

    def create_one(self, options: dict[str, Any]) -> None:
        """Make an org."""
        made = orgs.create_org(local_caller(), name=options["org"], clock=door().clock)
        if options["json"]:
            self.show(asdict(made), as_json=True, columns=())
        else:
            self.stdout.write(f"org {made.org} made")

    def list_all(self, options: dict[str, Any]) -> None:
        """Write every org."""
        rows = [asdict(org) for org in orgs.list_orgs(local_caller())]
        as_json = options["json"]
        shown = rows if as_json else [readable_times(row) for row in rows]
        self.show(shown, as_json=as_json, columns=("org", "created_at"))

    verbs: ClassVar = {"create": create_one, "list": list_all}
