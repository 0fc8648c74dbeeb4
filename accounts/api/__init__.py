"""REST for orgs, teams and keys, and who a request's caller is."""
