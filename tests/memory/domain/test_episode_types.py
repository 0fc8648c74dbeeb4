"""Which type claims a source."""

from pathlib import Path
from typing import Final

import pytest

from ampup_site.kernel.errors import AmpUpError
from memory.domain.episode_types import EpisodeTypes, check_not_reserved, sign_source

TYPES: Final = EpisodeTypes.load(
    (Path(__file__).parents[3] / "schemas" / "episode_types.json").read_text()
)


@pytest.mark.parametrize(
    ("source", "name", "letter"),
    [
        ("gong:1", "sales_call", "t"),
        ("ampup:meeting:1", "sales_call", "t"),
        ("slack:C1/p2", "slack_thread", "m"),
        ("outlook:x", "email", "m"),
        ("dynamicsCRM:7", "crm_update", "f"),
        ("mcp:remember_memory:ann:acme", "doc", "p"),
        ("note:acme", "doc", "p"),
    ],
)
def test_a_prefix_decides_the_type(source: str, name: str, letter: str) -> None:
    """Documented: the five types and their prefixes, section 6."""
    kind = TYPES.type_of(source)
    assert kind is not None
    assert (kind.name, kind.letter) == (name, letter)


@pytest.mark.parametrize("source", ["gong:", "Gong:1", "dynamicscrm:7", "ampup:1", "other", "gong"])
def test_a_source_that_no_type_claims_has_none(source: str) -> None:
    """Documented: letter case counts, and something must follow the prefix."""
    assert TYPES.type_of(source) is None


def test_the_longest_prefix_wins() -> None:
    """Documented: the longest prefix that fits decides."""
    types = EpisodeTypes.load(
        '[{"name":"a","sources":["x:"],"unit":"turn","letter":"t","predicates":"*"},'
        '{"name":"b","sources":["x:y:"],"unit":"field","letter":"f","predicates":["p"]}]'
    )
    assert [types.type_of(s).name for s in ("x:1", "x:y:1", "x:y:")] == ["a", "b", "a"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("source", "ingest"), [("keep", False), ("keep:a:b", True), ("mcp:remember_memory:a:b", True)]
)
def test_what_the_server_writes_itself_is_reserved(source: str, *, ingest: bool) -> None:
    """Documented: `keep` and signed sources are refused from callers."""
    with pytest.raises(AmpUpError) as refused:
        check_not_reserved(source, ingest=ingest)
    assert (refused.value.code, refused.value.field) == ("reserved_source", "source")


def test_a_signature_cannot_be_forged_by_a_name_with_colons() -> None:
    """Documented: colons in an author are escaped, so (author, source) can be told apart."""
    assert sign_source("acme", author="a:b%") == "mcp:remember_memory:a%3Ab%25:acme"
    assert sign_source("b:c", author="a") != sign_source("c", author="a:b")
