"""Valid callers, orgs and keys; a test sets only what it is about."""

from dataclasses import dataclass, replace

from accounts.domain.caller import Caller, local_caller
from accounts.domain.key import KeyDraft, NewKey
from accounts.domain.roles import Role
from accounts.services import keys, orgs
from accounts.services.authenticate import authenticate
from ampup_site.kernel.clock import Micros

NOON = Micros(1_774_966_930_123_456)
HOUR = 3_600_000_000


@dataclass(slots=True)
class FixedClock:
    """Stands still until it is moved."""

    moment: Micros = NOON

    def now(self) -> Micros:
        return self.moment

    def forward(self, micros: int) -> None:
        self.moment = Micros(self.moment + micros)


def a_caller(role: Role = Role.READER, **changes: object) -> Caller:
    caller = Caller(author="key:AbCd1234", role=role, key_id="AbCd1234")
    return replace(caller, **changes)  # type: ignore[arg-type]


def a_person(user: str = "priya", **changes: object) -> Caller:
    return a_caller(Role.PERSONAL, author=f"user:{user}", user=user, **changes)


def an_org(name: str = "acme", *teams: str) -> str:
    clock = FixedClock()
    if name == "default":
        orgs.ensure_default_org(clock=clock)
    else:
        orgs.create_org(local_caller(), name=name, clock=clock)
    for team in teams:
        orgs.create_team(local_caller(), name=team, org=name, clock=clock)
    return name


def a_key(role: Role = Role.READER, *, org: str | None = "*", **changes: object) -> NewKey:
    draft = KeyDraft(role=role, org=org, **changes)  # type: ignore[arg-type]
    return keys.create_key(local_caller(), draft, clock=FixedClock())


def signed_in(key: NewKey, clock: FixedClock | None = None) -> Caller:
    return authenticate(key.text, clock=clock or FixedClock(), local=False)
