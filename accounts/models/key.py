"""API keys: what a key may be used for, and the digest it is known again by."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from typing_extensions import override

from accounts.domain.roles import KEY_ROLES, Role
from accounts.models.org import Org, Team
from accounts.models.person import Person


class ApiKey(models.Model):
    """A key without its secret: `digest` is the SHA-256 of the whole text, 32 bytes."""

    public_id = models.CharField(max_length=8, unique=True)
    digest = models.BinaryField(max_length=32)
    role = models.CharField(max_length=16, choices=[(role.value, role.value) for role in KEY_ROLES])
    org = models.ForeignKey(
        Org, null=True, blank=True, on_delete=models.PROTECT, related_name="keys"
    )
    team = models.ForeignKey(
        Team, null=True, blank=True, on_delete=models.PROTECT, related_name="keys"
    )
    person = models.ForeignKey(
        Person, null=True, blank=True, on_delete=models.CASCADE, related_name="keys"
    )
    groups = ArrayField(models.TextField(), default=list, blank=True)
    roles = ArrayField(models.TextField(), default=list, blank=True)
    default_acl = ArrayField(models.TextField(), null=True, blank=True)
    toolset = models.CharField(max_length=16, default="ampup")
    label = models.CharField(max_length=100, blank=True)
    created_by = models.CharField(max_length=210)
    created_at = models.BigIntegerField()
    expires_at = models.BigIntegerField(null=True, blank=True)
    revoked_at = models.BigIntegerField(null=True, blank=True)
    last_used_at = models.BigIntegerField(null=True, blank=True)

    class Meta:
        verbose_name = "API key"
        ordering = ("-id",)
        constraints = (
            models.CheckConstraint(
                name="accounts_key_personal_has_person",
                condition=Q(role=Role.PERSONAL.value, person__isnull=False)
                | (~Q(role=Role.PERSONAL.value) & Q(person__isnull=True)),
            ),
            models.CheckConstraint(
                name="accounts_key_team_has_org",
                condition=Q(team__isnull=True) | Q(org__isnull=False),
            ),
            models.CheckConstraint(
                name="accounts_key_expires_after_made",
                condition=Q(expires_at__isnull=True) | Q(expires_at__gt=F("created_at")),
            ),
        )

    @override
    def __str__(self) -> str:
        return self.public_id
