"""Rows of memory that are Postgres's own: what cannot be rebuilt from the tables."""

from memory.models.idempotency import IdempotencyRow
from memory.models.job import JobLease, JobRun

__all__ = ["IdempotencyRow", "JobLease", "JobRun"]
