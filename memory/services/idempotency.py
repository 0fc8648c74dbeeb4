"""Answers a write that is sent again under its `Idempotency-Key` as it was answered before.

Every write is recognised by its state anyway; a key adds that the answer is the same to the
letter, and that a key which was used for something else is refused.
"""

import re
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from ampup_site.kernel.clock import Clock
from ampup_site.kernel.errors import AmpUpError, BadRequest, ErrorKind
from memory.models import IdempotencyRow

LIFETIME: Final = 24 * 3_600_000_000
"""Microseconds that a key is honoured for.  Source: architecture, invariant 4."""

_KEY: Final = re.compile(r"[!-~]{1,255}")


class IdempotencyMismatch(AmpUpError):
    """The key stood for another request; take a fresh one."""

    kind = ErrorKind.UNPROCESSABLE
    code = "idempotency_mismatch"


@dataclass(frozen=True, slots=True)
class Claim:
    """A request under a key.

    Args:
        owner: the caller whose key it is; others may use the same text.
        digest: SHA-256 of everything that makes the request what it is.
    """

    owner: str
    key: str
    digest: str

    def __post_init__(self) -> None:
        if _KEY.fullmatch(self.key) is None:
            message = "idempotency-key must be 1 to 255 printable ASCII characters, without blanks."
            raise BadRequest(message, field="idempotency-key")


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """What was answered; `content` is JSON."""

    status: int
    content: str


def claim_key(claim: Claim, *, clock: Clock) -> KeptAnswer | None:
    """Return the answer kept under a key, or claim it for this request and return None.

    A claim without an answer is open to the same request: its writer may have been killed.

    Raises:
        IdempotencyMismatch: within 24 hours the key stood for another request.
    """
    now = clock.now()
    with transaction.atomic(durable=True):
        IdempotencyRow.objects.filter(claimed_at__lte=now - LIFETIME).delete()
        fresh = IdempotencyRow(
            owner=claim.owner, key=claim.key, digest=claim.digest, claimed_at=now
        )
        IdempotencyRow.objects.bulk_create([fresh], ignore_conflicts=True)
        row = IdempotencyRow.objects.filter(owner=claim.owner, key=claim.key).first()
    if row is None:
        # Its claimant was refused just now and gave it back; this one may do without.
        return None
    if row.digest != claim.digest:
        message = "idempotency-key was used for another request; send this one under a fresh key."
        raise IdempotencyMismatch(message, field="idempotency-key")
    return KeptAnswer(row.status, row.content) if row.content else None


def keep_answer(claim: Claim, answer: KeptAnswer) -> None:
    """Keep what a claimed request was answered."""
    _rows(claim).update(status=answer.status, content=answer.content)


def release_key(claim: Claim) -> None:
    """Give a key back whose request was refused, so that it can be mended and sent again."""
    _rows(claim).filter(content="").delete()


def _rows(claim: Claim) -> QuerySet[IdempotencyRow]:
    return IdempotencyRow.objects.filter(owner=claim.owner, key=claim.key, digest=claim.digest)
