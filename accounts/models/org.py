"""Orgs and their teams; both are only ever added."""

from django.db import models
from typing_extensions import override


class Org(models.Model):
    """A tenant; its name is part of its namespace, so it never changes."""

    name = models.CharField(max_length=63, unique=True)
    created_at = models.BigIntegerField()

    class Meta:
        ordering = ("name",)

    @override
    def __str__(self) -> str:
        return self.name


class Team(models.Model):
    """A part of an org with a memory of its own; the name is unique in the org."""

    org = models.ForeignKey(Org, on_delete=models.PROTECT, related_name="teams")
    name = models.CharField(max_length=63)
    created_at = models.BigIntegerField()

    class Meta:
        ordering = ("org__name", "name")
        constraints = (
            models.UniqueConstraint(fields=("org", "name"), name="accounts_team_of_an_org"),
        )

    @override
    def __str__(self) -> str:
        return self.name
