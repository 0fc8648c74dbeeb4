"""Who may read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.domain.entries import EVERYONE
from ampup_site.kernel.errors import BadRequest
from memory.domain.acl import matches, parse_acl

_ENTRIES = st.one_of(
    st.just(EVERYONE),
    st.builds(
        "{}:{}".format,
        st.sampled_from(("user", "group", "role")),
        st.text("abz019._-%:\u00e9", min_size=1, max_size=20).filter(lambda t: t[0] != ":"),
    ),
)


@given(st.lists(_ENTRIES, min_size=1, max_size=32))
def test_an_acl_has_one_form_whatever_the_order(entries: list[str]) -> None:
    """Documented: deduplicated and sorted, and `*` subsumes the rest."""
    acl = parse_acl(entries, field="acl")
    assert acl == parse_acl([*reversed(entries)], field="acl") == parse_acl(acl, field="acl")
    assert acl == ((EVERYONE,) if EVERYONE in entries else tuple(sorted(set(entries))))


@pytest.mark.parametrize(
    "entry",
    [
        *("", "user:", "user::a", "user:a b", "user:a,b", "User:a", "team:a", " *", "**"),
        *("user:a\n", "user:a\x00", "user:\ud800", "group:" + "a" * 201),
        *("user:bob\u200b", "role:\u202ex", "group:a\x85"),
    ],
)
def test_what_is_no_entry_is_refused_by_its_field(entry: str) -> None:
    """Documented: the grammar of section 3."""
    with pytest.raises(BadRequest) as refused:
        parse_acl(["user:ann", entry], field="acl")
    assert refused.value.field == "acl"


@pytest.mark.parametrize("entries", [[], [f"user:{n}" for n in range(33)]])
def test_an_acl_names_one_to_thirty_two(entries: list[str]) -> None:
    """Documented: at most 32 entries; ours: and never nobody."""
    with pytest.raises(BadRequest):
        parse_acl(entries, field="acl")


def test_any_one_entry_suffices_and_a_stranger_has_none() -> None:
    """Documented: entries are only or-ed."""
    acl = parse_acl(["group:sales", "user:ann"], field="acl")
    assert matches(acl, ["*", "user:bob", "group:sales"])
    assert not matches(acl, ["*", "user:anne", "role:sales"])
    assert matches(parse_acl(["*"], field="acl"), ["*"])
