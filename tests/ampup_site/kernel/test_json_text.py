"""What is told of JSON text before it is parsed."""

import json
from time import perf_counter

from hypothesis import given
from hypothesis import strategies as st

from ampup_site.kernel.json_text import is_crowded

_JSON = st.recursive(
    st.none() | st.integers() | st.text(st.sampled_from('[{"\\]}a'), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("[{\\", max_size=2), inner),
    max_leaves=12,
)


def _containers(value: object) -> int:
    if isinstance(value, dict):
        return 1 + sum(_containers(item) for item in value.values())
    if isinstance(value, list):
        return 1 + sum(_containers(item) for item in value)
    return 0


@given(value=_JSON, most=st.integers(0, 8))
def test_brackets_in_texts_do_not_count(value: object, most: int) -> None:
    """Ours: a note about code is no crowd; arrays and objects are counted exactly."""
    assert is_crowded(json.dumps(value).encode(), most=most) == (_containers(value) > most)


def test_unfinished_texts_are_told_in_time() -> None:
    """Ours: the look costs less than what it spares, whatever the bytes are."""
    for content in (b'"' + b'\\"' * 2_000_000, b'["\\' + b"[" * 2_000_000, b'"[' * 1_000_000):
        began = perf_counter()
        is_crowded(content)
        assert perf_counter() - began < 10
