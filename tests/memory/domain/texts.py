"""Texts for property tests: whatever a caller may send, with the awkward more often."""

from hypothesis import strategies as st

_AWKWARD = (
    "Ann: ",
    "\n",
    "\n\n",
    "\r\n",
    "# Title\n",
    "- item\n",
    "```\n",
    "key: value\n",
    "[00:01] Bo Li: yes\n",
    "On Monday, Ann wrote:\n",
    "From: ann@example.com\n",
    '{"a": 1, "b": [2]}',
    "A sentence that ends. ",
    "caf\u00e9 cafe\u0301 ",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "\U0001f1e8\U0001f1ed",
    "\u4f1a\u8bae\u8bb0\u5f55",
    "word " * 120,
    "x" * 700,
)

BODIES = (
    st.lists(
        st.one_of(
            st.sampled_from(_AWKWARD),
            st.text(st.characters(exclude_characters="\x00", codec="utf-8"), max_size=60),
        ),
        min_size=1,
        max_size=40,
    )
    .map("".join)
    .filter(bool)
)
