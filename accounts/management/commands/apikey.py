"""`apikey create|list|revoke`: the keys of people and programs."""

from typing import Any, ClassVar

from django.core.management.base import CommandParser
from typing_extensions import override

from accounts.domain.caller import local_caller
from accounts.domain.key import KeyDraft
from accounts.domain.key_json import key_json
from accounts.domain.key_rules import ANY_ORG
from accounts.domain.lifetime import expiry_after
from accounts.domain.roles import KEY_ROLES, Role
from accounts.management.moments import readable_times
from accounts.management.report import AccountsCommand, add_json
from accounts.services import keys
from accounts.wiring import door

_COLUMNS = ("id", "role", "org", "team", "personal", "label", "expires_at", "revoked_at")


class Command(AccountsCommand):
    """Make, list and revoke keys; a key's text is shown once, when it is made."""

    help = "make, list and revoke API keys, such as: apikey create --role reader --expires 90d"

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        """Add the subcommands."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make a key and show it, this once")
        kind = create.add_mutually_exclusive_group(required=True)
        kind.add_argument("--personal", metavar="USER", help="a person's own key")
        roles = [role.value for role in KEY_ROLES if role is not Role.PERSONAL]
        kind.add_argument("--role", choices=roles, help="a program's key")
        create.add_argument("--org", help=f"the only org it may use; {ANY_ORG} for every org")
        create.add_argument("--team", help="the only team of that org it may use")
        create.add_argument("--group", action="append", default=[], help="a group it holds")
        create.add_argument("--acl-role", action="append", default=[], help="an ACL role it holds")
        create.add_argument(
            "--acl-default", action="append", metavar="ENTRY", help="who reads what it ingests"
        )
        create.add_argument("--toolset", default="ampup", help="what plain URLs serve it")
        create.add_argument("--expires", metavar="90d", help="its lifetime; without, it has no end")
        create.add_argument("--label", default="", help="what it is for")
        listing = verbs.add_parser("list", help="list keys, the newest first")
        revoke = verbs.add_parser("revoke", help="end a key at once")
        revoke.add_argument("id", help="the key's public id, the 8 characters after msk_")
        for verb in (create, listing, revoke):
            add_json(verb)

    def create_one(self, options: dict[str, Any]) -> None:
        """Make a key and write its text."""
        entrance = door()
        made = keys.create_key(
            local_caller(),
            _draft(options),
            clock=entrance.clock,
            default_org=entrance.default_org,
        )
        if options["json"]:
            answer = {"key": made.text, **key_json(made.record)}
            self.show(answer, as_json=True, columns=())
            return
        self.stdout.write(made.text)
        self.stderr.write("Keep it now: it is not stored and cannot be shown again.")

    def list_all(self, options: dict[str, Any]) -> None:
        """Write every key."""
        rows: list[dict[str, object]] = []
        cursor: str | None = None
        while True:
            page = keys.list_keys(local_caller(), cursor=cursor)
            rows.extend(key_json(key) for key in page.keys)
            cursor = page.next_cursor
            if cursor is None:
                break
        self._show(rows, as_json=options["json"])

    def revoke_one(self, options: dict[str, Any]) -> None:
        """End a key and write what it was."""
        record = keys.revoke_key(local_caller(), options["id"], clock=door().clock)
        if options["json"]:
            self.show(key_json(record), as_json=True, columns=())
        else:
            self._show([key_json(record)], as_json=False)

    def _show(self, rows: list[dict[str, object]], *, as_json: bool) -> None:
        shown = rows if as_json else [readable_times(row) for row in rows]
        self.show(shown, as_json=as_json, columns=_COLUMNS)

    verbs: ClassVar = {"create": create_one, "list": list_all, "revoke": revoke_one}


def _draft(options: dict[str, Any]) -> KeyDraft:
    acl, expires = options["acl_default"], options["expires"]
    return KeyDraft(
        role=Role.PERSONAL if options["personal"] is not None else Role(options["role"]),
        org=options["org"],
        team=options["team"],
        person=options["personal"],
        groups=tuple(options["group"]),
        roles=tuple(options["acl_role"]),
        default_acl=None if acl is None else tuple(acl),
        toolset=options["toolset"],
        label=options["label"],
        expires_at=None if expires is None else expiry_after(expires, now=door().clock.now()),
    )
