"""The Django app `accounts`."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Orgs, teams, people and keys."""

    name = "accounts"
    label = "accounts"
    default_auto_field = "django.db.models.BigAutoField"
