"""A key as JSON, the same over REST and on the command line; no secret is in it."""

from accounts.domain.key import KeyRecord


def key_json(key: KeyRecord) -> dict[str, object]:
    """Return the fields that are shown; times are microseconds."""
    return {
        "id": key.public_id,
        "role": key.role.value,
        "org": key.org,
        "team": key.team,
        "personal": key.person,
        "groups": list(key.groups),
        "roles": list(key.roles),
        "default_acl": None if key.default_acl is None else list(key.default_acl),
        "toolset": key.toolset,
        "label": key.label,
        "created_by": key.created_by,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
    }
