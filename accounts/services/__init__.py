"""Verbs: authenticate, permit, make and revoke keys, make orgs and teams."""
