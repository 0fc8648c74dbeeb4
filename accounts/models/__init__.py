"""Rows of who is asking. Times are integers: microseconds since the epoch, UTC."""

from accounts.models.audit import AuditRow
from accounts.models.key import ApiKey
from accounts.models.org import Org, Team
from accounts.models.person import Person

__all__ = ["ApiKey", "AuditRow", "Org", "Person", "Team"]
