"""What an episode's fields may hold."""

import pytest

from ampup_site.kernel.canonical import Canonical
from ampup_site.kernel.errors import AmpUpError, BadRequest, TooLarge
from memory.domain.checks import check_body, check_meta, check_source, check_tags
from memory.domain.limits import MAX_BODY_BYTES, MAX_SOURCE_CHARS


@pytest.mark.parametrize("body", ["", " \t\n", "\u200b\u200b", "\ufeff", "\u2060\u00ad ", "\r\n"])
def test_a_body_that_says_nothing_is_refused(body: str) -> None:
    """Regression: case 11, empty and zero-width texts."""
    with pytest.raises(AmpUpError) as refused:
        check_body(body)
    assert refused.value.field == "body"


@pytest.mark.parametrize("body", ["a\x00b", "\ud83d alone", "tail \udc00"])
def test_a_body_that_no_store_keeps_is_refused_by_its_field(body: str) -> None:
    """Regression: cases 1 and 9, NUL bytes and half surrogate pairs."""
    with pytest.raises(AmpUpError) as refused:
        check_body(body)
    assert refused.value.field == "body"


def test_a_body_may_be_two_mebibytes_of_utf_8_and_not_a_byte_more() -> None:
    """Documented: the limit of section 6, in bytes and not in characters."""
    assert check_body("\u00e9" * (MAX_BODY_BYTES // 2)) == MAX_BODY_BYTES
    with pytest.raises(TooLarge):
        check_body("\u00e9" * (MAX_BODY_BYTES // 2) + "a")


@pytest.mark.parametrize(
    "source",
    ["", "  ", "note:\x00", "note:\n", "note:\x7f", "\ud800", "n" * (MAX_SOURCE_CHARS + 1)],
)
def test_a_source_is_a_short_line_of_text(source: str) -> None:
    """Documented: at most 512 characters; ours: and no control characters."""
    with pytest.raises(AmpUpError) as refused:
        check_source(source)
    assert refused.value.field == "source"


def test_a_source_is_kept_as_it_is_given() -> None:
    """Ours: a name that looks like a path, or is 512 letters of any script, is only a name."""
    for source in ("doc:../../etc/passwd", "note:" + "\u4f1a" * (MAX_SOURCE_CHARS - 5)):
        assert check_source(source) == source


@pytest.mark.parametrize("tag", ["", "Upper", "two words", "a" * 41, "tag\n", "\u00e9"])
def test_a_tag_is_a_short_lower_case_word(tag: str) -> None:
    """Documented: `[a-z0-9_-]{1,40}`, section 6."""
    with pytest.raises(AmpUpError) as refused:
        check_tags(["fine", tag])
    assert refused.value.field == "tags"


def test_meta_is_kept_as_canonical_json() -> None:
    """Ours: keys in order, no blanks, so that the same meta has the same bytes."""
    assert check_meta({"b": [1, None, True], "a": "é\n"}) == '{"a":"é\\n","b":[1,null,true]}'
    assert check_meta(None) is None


@pytest.mark.parametrize(
    "value",
    [2**63, -(2**80), "\ud800", "a\x00", "x" * 20_000, [[[[[[[[1]]]]]]]], {"\x00": 1}, "\x85"],
)
def test_meta_that_would_not_come_back_as_given_is_refused(value: Canonical) -> None:
    """Regression: a number beyond 64 bits came back as a fraction, and failed inside the server."""
    with pytest.raises(BadRequest) as refused:
        check_meta({"a": value})
    assert refused.value.field == "meta"
