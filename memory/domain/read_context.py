"""What one read may see: made once a request by `services.access`, demanded by every read."""

from dataclasses import dataclass

from ampup_site.kernel.clock import Micros
from memory.domain.lineage import Lineage, Seq


@dataclass(frozen=True, slots=True)
class ReadContext:
    """A place in history and a caller's rights, as they are at `at`.

    Args:
        scope_id: the scope's number in the index; None if nothing was ever written to it.
        head: the newest ledger position the read may show.
        visible: the ACL sets the caller may read; None for a caller who sees every episode.
        amended: whether any ACL of the scope was amended since the generation was built.
    """

    namespace: str
    scope_id: int | None
    generation: int
    lineage: Lineage
    head: Seq
    at: Micros
    visible: tuple[int, ...] | None
    amended: bool
