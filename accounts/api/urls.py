"""Routes of orgs, teams and keys; each answers with and without a trailing slash."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
