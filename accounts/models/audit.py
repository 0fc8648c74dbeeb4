"""The trail of who changed what about access."""

from django.db import models
from typing_extensions import override


class AuditRow(models.Model):
    """One change, written in its own transaction; `detail` never holds a secret.

    `target` is `<kind>:<name>`, such as `key:AbCd1234` or `team:acme/sales`.
    """

    at = models.BigIntegerField(db_index=True)
    actor = models.CharField(max_length=210)
    action = models.CharField(max_length=40)
    target = models.CharField(max_length=210, db_index=True)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ("-id",)

    @override
    def __str__(self) -> str:
        return f"{self.action} {self.target}"
