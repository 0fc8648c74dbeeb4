"""What /openapi.json says about answers; a test holds real answers of each route against it.

Objects are closed, so a field that `memory.api.answers` gains is named here or the test fails.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from accounts.domain.roles import Action, Role
from memory.domain.job import JobKind, JobState
from memory.domain.units import UnitKind

Schema: TypeAlias = Mapping[str, Any]

_TEXT: Final = {"type": "string"}
_FLAG: Final = {"type": "boolean"}
_WHOLE: Final = {"type": "integer"}
_TRUE: Final = {"const": True}
_NULL: Final = {"type": "null"}
_NONE_YET: Final = {**_NULL, "description": "Of a later version; null until then."}
_EPISODE_ID: Final = {**_TEXT, "pattern": "^[0-9a-f]{64}$"}
_COMMIT: Final = {**_TEXT, "pattern": "^c_[0-9a-z]{26}$"}
_MOMENT: Final = {**_WHOLE, "description": "Microseconds since 1970, UTC."}


def _list(items: Schema, **bounds: int) -> dict[str, Any]:
    return {"type": "array", "items": dict(items), **bounds}


def _or_null(schema: Schema) -> dict[str, Any]:
    return {"anyOf": [dict(schema), _NULL]}


def _enum(values: Any) -> dict[str, Any]:
    return {**_TEXT, "enum": [value.value for value in values]}


def _object(required: Mapping[str, Schema], **optional: Schema) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


_TEXTS: Final = _list(_TEXT)
_CURSOR: Final = {**_or_null(_TEXT), "description": "Of the next page; null on the last one."}

REMEMBERED: Final = _object(
    {"episode_id": _EPISODE_ID, "source": _TEXT, "created": _FLAG, "commit": _COMMIT},
    acl_unchanged=_TRUE,
)
INGESTED: Final = _object(
    {
        "episodes": _list(
            _object({"episode_id": _EPISODE_ID, "created": _FLAG}, acl_unchanged=_TRUE)
        ),
        "commit": _COMMIT,
    }
)
PROMISED: Final = _object({"job": {**_TEXT, "description": "GET /jobs/{id} tells how far it is."}})
FORGOTTEN: Final = _object({"forgotten": _TRUE, "episode_id": _EPISODE_ID, "commit": _COMMIT})
AMENDED: Final = _object({"episode_id": _EPISODE_ID, "acl": _TEXTS, "commit": _COMMIT})
EPISODE: Final = _object(
    {
        "episode_id": _EPISODE_ID,
        "source": _TEXT,
        "type": _TEXT,
        "body": _TEXT,
        "units": _list(_object({"n": _WHOLE, "label": _TEXT, "text": _TEXT})),
        "occurred_at": _MOMENT,
        "recorded_at": _MOMENT,
        "about": _TEXTS,
        "document": _or_null(_TEXT),
        "tags": _TEXTS,
        "author": _TEXT,
        "meta": _or_null({"type": "object"}),
    },
    acl={**_TEXTS, "description": "Only for callers who may amend it."},
)

_SHARE: Final = {"type": "number", "minimum": 0, "maximum": 1}
_PASSAGE: Final = _object(
    {
        "episode_id": _EPISODE_ID,
        "source": _TEXT,
        "type": _TEXT,
        "units": {**_list(_WHOLE, minItems=2, maxItems=2), "description": "First and last."},
        "label": _TEXT,
        "text": _TEXT,
        "score": _SHARE,
        "occurred_at": _MOMENT,
    },
    document=_TEXT,
    explain={
        **_object({"keyword": _SHARE, "fields": _TEXT}, meaning=_SHARE),
        "description": "With `explain`: the parts of the score, and what holds the words.",
    },
)
_CITED: Final = _object(
    {
        "n": _WHOLE,
        "episode_id": _EPISODE_ID,
        "source": _TEXT,
        "type": _TEXT,
        "occurred_at": _MOMENT,
    }
)
_LISTED: Final = _object(
    {
        "episode_id": _EPISODE_ID,
        "source": _TEXT,
        "type": _TEXT,
        "occurred_at": _MOMENT,
        "about": _TEXTS,
        "tags": _TEXTS,
        "title": _TEXT,
    },
    document=_TEXT,
)
SEARCHED: Final = {
    "oneOf": [
        _object(
            {
                "query": _TEXT,
                "as_of": _NONE_YET,
                "window": _or_null(_object({"from": _MOMENT, "to": _MOMENT})),
                "facts": _list({}, maxItems=0),
                "passages": _list(_PASSAGE),
                "episodes": _list(_CITED),
            }
        ),
        {**_object({"query": _TEXT, "text": _TEXT}), "description": "With format=text."},
    ]
}


def _page(find: str, row: Schema) -> dict[str, Any]:
    fields = {"as_of": _NONE_YET, "results": _list(row), "next_cursor": _CURSOR}
    return _object({"find": {"const": find}, **fields})


FOUND: Final = {"oneOf": [_page("passages", _PASSAGE), _page("episodes", _LISTED)]}
JOB: Final = _object(
    {
        "job": _TEXT,
        "kind": _enum(JobKind),
        "state": _enum(JobState),
        "done": _WHOLE,
        "total": _WHOLE,
        "commits": _list(_COMMIT),
    },
    refused=_list(_object({"position": _TEXT, "reason": _TEXT})),
    error=_TEXT,
)
INDEX_STATUS: Final = _object(
    {"ready": _FLAG, "generation": _WHOLE},
    applied={**_or_null(_COMMIT), "description": "The newest commit that searches see."},
    pending=_WHOLE,
    vectors_pending=_WHOLE,
    tail=_WHOLE,
    tail_long=_FLAG,
    analyzer_current=_FLAG,
)
EPISODE_TYPE: Final = _object(
    {
        "name": _TEXT,
        "sources": _TEXTS,
        "unit": _enum(UnitKind),
        "letter": _TEXT,
        "predicates": {"oneOf": [{"const": "*"}, _TEXTS]},
    }
)
EPISODE_TYPES: Final = _object({"results": _list(EPISODE_TYPE), "next_cursor": _NULL})
WHOAMI: Final = _object(
    {
        "user": _or_null(_TEXT),
        "groups": _TEXTS,
        "roles": _TEXTS,
        "role": _enum(Role),
        "org": _or_null(_TEXT),
        "team": _or_null(_TEXT),
        "scopes": _TEXTS,
        "rights": _list(_enum(Action)),
        "timezone": _TEXT,
    }
)
