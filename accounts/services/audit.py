"""Write one row of the trail, inside the transaction of what it tells of."""

from collections.abc import Mapping

from accounts.domain.caller import Caller
from accounts.models import AuditRow
from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import Json


def record_change(
    caller: Caller, *, action: str, target: str, detail: Mapping[str, Json], at: Micros
) -> None:
    """Store who did what to `target`, which is `<kind>:<name>`; no secret goes into `detail`."""
    AuditRow.objects.create(
        at=at, actor=caller.author, action=action, target=target, detail=dict(detail)
    )
