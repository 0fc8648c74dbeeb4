"""How large things may be.  Source: specification, sections 6 and 9, where nothing else is said."""

from typing import Final

MAX_BODY_BYTES: Final = 2 * 2**20
MAX_BATCH_EPISODES: Final = 500
MAX_BATCH_BYTES: Final = 16 * 2**20
MAX_ATOMIC_EPISODES: Final = 5_000
"""Episodes of `load --atomic`.  Source: architecture, "The write path"."""

MAX_SOURCE_CHARS: Final = 512
MAX_DOCUMENT_CHARS: Final = 512
"""Ours: a document key is a name like a source."""

MAX_REASON_CHARS: Final = 2_000
"""Ours: why something was forgotten or amended is a sentence or two."""

MAX_ABOUT: Final = 64
MAX_TAGS: Final = 32
MAX_META_DEPTH: Final = 8
MAX_META_BYTES: Final = 16_384
"""Ours: meta is for labels, a text belongs into the body."""

MAX_ACL_ENTRIES: Final = 32
BLOB_BYTES: Final = 64 * 2**10
"""Bodies above are files of their own beside the tables."""

PASSAGE_BYTES: Final = 1_500
MAX_K: Final = 200
"""Results of one call.  Source: architecture, section 10."""

DEFAULT_CHARS: Final = 6_000
MIN_CHARS: Final = 500
MAX_CHARS: Final = 40_000
"""Characters of a text answer."""
