"""Answers kept for callers who send the same write again under the same key."""

from typing import ClassVar

from django.db import models
from typing_extensions import override


class IdempotencyRow(models.Model):
    """One `Idempotency-Key` of one caller: which request it stood for, and its answer.

    `content` is empty until the write has landed.
    """

    owner = models.CharField(max_length=200)
    key = models.CharField(max_length=255)
    digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0)
    content = models.TextField(default="", blank=True)
    claimed_at = models.BigIntegerField(db_index=True)

    class Meta:
        """A key is one caller's own."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=["owner", "key"], name="idempotency_owner_key"),
        ]

    @override
    def __str__(self) -> str:
        """Return whose key it is, without the key."""
        return f"a key of {self.owner}"
