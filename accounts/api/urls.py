"""Routes of orgs, teams and keys; each answers with and without a trailing slash."""

from django.urls import URLPattern, re_path

from accounts.api.keys import KeysView, KeyView
from accounts.api.orgs import OrgsView, TeamsView

urlpatterns: list[URLPattern] = [
    re_path(r"^orgs/?\Z", OrgsView.as_view(), name="orgs"),
    re_path(r"^teams/?\Z", TeamsView.as_view(), name="teams"),
    re_path(r"^keys/?\Z", KeysView.as_view(), name="keys"),
    re_path(r"^keys/(?P<public_id>[^/]+)/?\Z", KeyView.as_view(), name="key"),
]
