"""What can go wrong with memory itself."""

from ampup_site.kernel.errors import AmpUpError, ErrorKind


class AclRequired(AmpUpError):
    """An ingested episode names nobody who may read it."""

    code = "acl_required"


class UnclaimedSource(AmpUpError):
    """No episode type claims the source."""

    code = "unclaimed_source"


class ReservedSource(AmpUpError):
    """The source belongs to the server."""

    code = "reserved_source"


class AclChanged(AmpUpError):
    """The present ACL is not the one the caller expected; read it and amend again."""

    kind = ErrorKind.CONFLICT
    code = "acl_changed"


class LedgerConflict(AmpUpError):
    """Another commit landed first; re-read the head and try again."""

    kind = ErrorKind.CONFLICT
    code = "ledger_conflict"


class LedgerBusy(AmpUpError):
    """The write's deadline passed; whether it landed is unknown, and it may be sent again."""

    kind = ErrorKind.UNAVAILABLE
    code = "ledger_busy"


class CommitUnknown(AmpUpError):
    """No answer to a COMMIT came; look for the commit id before trying again."""

    kind = ErrorKind.UNAVAILABLE
    code = "commit_unknown"


class IndexBehind(AmpUpError):
    """The index does not stand where the ledger does; it is being brought up."""

    kind = ErrorKind.UNAVAILABLE
    code = "index_behind"


class RefusedRow(AmpUpError):
    """The store cannot take this write; it alone is refused."""

    kind = ErrorKind.UNPROCESSABLE
    code = "validation"


class StorageUnavailable(AmpUpError):
    """The warehouse or the database cannot be written now; nothing was stored."""

    kind = ErrorKind.UNAVAILABLE
    code = "storage_unavailable"


class LandingFailed(AmpUpError):
    """A write failed for a reason of ours; nothing of it was stored and the log says why."""

    kind = ErrorKind.UNAVAILABLE
    code = "landing_failed"


class ChildDied(AmpUpError):
    """A process that did a part of the work was killed, for want of memory perhaps."""

    kind = ErrorKind.UNAVAILABLE
    code = "child_died"


class RebuildRunning(AmpUpError):
    """Another rebuild of the same index runs."""

    kind = ErrorKind.CONFLICT
    code = "rebuild_running"


class DamagedBlob(AmpUpError):
    """A stored body is not what its hash says."""

    kind = ErrorKind.UNAVAILABLE
    code = "damaged_blob"


class DamagedTable(AmpUpError):
    """The tables do not hold what the ledger says; restore the warehouse."""

    kind = ErrorKind.UNAVAILABLE
    code = "damaged_table"


class CatalogBehind(AmpUpError):
    """The warehouse holds versions that the catalog does not know: it is an older backup."""

    kind = ErrorKind.CONFLICT
    code = "catalog_behind"
