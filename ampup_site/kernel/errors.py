"""One root of errors, seven kinds; each transport maps kinds to its own codes once."""

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, TypeAlias

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"


class ErrorKind(StrEnum):
    """What a caller can do about an error, told apart by transport-neutral names."""

    INVALID = "invalid"
    UNPROCESSABLE = "unprocessable"
    TOO_LARGE = "too_large"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    LIMITED = "limited"
    UNAVAILABLE = "unavailable"


class AmpUpError(Exception):
    """A request that could not be done; `code` is stable, clients branch on it.

    Args:
        message: one sentence that names the field and the remedy, fit to be shown.
        field: the argument at fault, where there is one.
        detail: JSON for machines; never another caller's text.
    """

    kind: ClassVar[ErrorKind] = ErrorKind.INVALID
    code: ClassVar[str] = "bad_request"

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        detail: Mapping[str, Json] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.detail = dict(detail) if detail else None


class BadRequest(AmpUpError):
    """The request is malformed: an unknown field, a wrong type, a value out of range."""


class Validation(AmpUpError):
    """The request is well formed, but a value in it cannot be taken."""

    kind = ErrorKind.UNPROCESSABLE
    code = "validation"


class TooLarge(AmpUpError):
    """The request is over a documented limit of size."""

    kind = ErrorKind.TOO_LARGE
    code = "too_large"


class Unauthenticated(AmpUpError):
    """No key, or one that is unknown, expired or revoked."""

    kind = ErrorKind.UNAUTHENTICATED
    code = "unauthenticated"


class Forbidden(AmpUpError):
    """The caller is known and may not do this."""

    kind = ErrorKind.FORBIDDEN
    code = "forbidden"


class NotFound(AmpUpError):
    """It does not exist, or the caller may not know that it does: the answers are alike."""

    kind = ErrorKind.NOT_FOUND
    code = "not_found"


class Unavailable(AmpUpError):
    """Something this call needs is not there now; the same call may be sent again."""

    kind = ErrorKind.UNAVAILABLE
    code = "unavailable"
