"""People: the user model of the console and the owners of personal keys."""

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from typing_extensions import override

from accounts.models.org import Org


class People(BaseUserManager["Person"]):
    """Makes people for Django's own commands; the services make them otherwise."""

    def create_user(self, username: str, password: str | None = None) -> "Person":
        """Store a person; without a password they cannot sign in to the console."""
        person = self.model(username=username)
        person.set_password(password)
        person.save(using=self._db)
        return person

    def create_superuser(self, username: str, password: str | None = None) -> "Person":
        """Store a person with every right in the console."""
        person = self.model(username=username, is_staff=True, is_superuser=True)
        person.set_password(password)
        person.save(using=self._db)
        return person


class Person(AbstractBaseUser, PermissionsMixin):
    """A person; `username` is the user id that `user:<id>` names in ACLs and scopes."""

    username = models.CharField(max_length=200, unique=True)
    display_name = models.CharField(max_length=200, blank=True)
    email = models.EmailField(blank=True)
    org = models.ForeignKey(
        Org, null=True, blank=True, on_delete=models.PROTECT, related_name="people"
    )
    time_zone = models.CharField(max_length=64, default="UTC")
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)

    objects: ClassVar[People] = People()

    USERNAME_FIELD = "username"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        verbose_name_plural = "people"

    @override
    def __str__(self) -> str:
        return self.username
