"""The embedded Postgres: a wheel's binaries under a supervisor of ours."""
