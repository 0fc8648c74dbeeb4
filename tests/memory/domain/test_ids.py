"""Ids from content."""

import pytest
from hypothesis import given

from ampup_site.kernel.errors import BadRequest
from memory.domain.ids import body_sha256, episode_id, parse_episode_id
from tests.memory.domain.texts import BODIES

_BODY = "The Acme renewal is owned by Priya."


def test_an_id_is_the_hash_of_source_and_body_or_of_the_body() -> None:
    """Documented: the specification's two vectors, section 6."""
    assert episode_id("note:acme", _BODY) == (
        "ae9e670e786b2cbf84d1f7c85611ec248b861cbf8cb5d05766c7db48ff1d80a2"
    )
    assert str(episode_id("note:acme", _BODY, id_of="body")) == body_sha256(_BODY)
    assert body_sha256(_BODY) == "2513a576b4eddd916105243c154f408bc9f3af24015df0153ca517793b4a8f8d"


@given(BODIES)
def test_an_id_takes_the_text_as_it_is(body: str) -> None:
    """Documented: no trimming and no normal form, so CRLF and LF bodies are two episodes."""
    assert episode_id("note:a", body) != episode_id("note:a", body + "\r\n")
    assert episode_id("note:a", body) == parse_episode_id(episode_id("note:a", body))


@pytest.mark.parametrize("text", ["", "ab", "A" * 64, "0" * 64 + "\n", "\u0660" * 64, "../" * 22])
def test_what_is_no_id_is_refused_by_its_field(text: str) -> None:
    """Ours: an id is 64 lower-case hex digits and nothing else."""
    with pytest.raises(BadRequest) as refused:
        parse_episode_id(text)
    assert refused.value.field == "episode_id"


def test_an_unknown_recipe_is_refused() -> None:
    """Ours: `id_of` is one of two words."""
    with pytest.raises(BadRequest) as refused:
        episode_id("note:a", "b", id_of="source")
    assert refused.value.field == "id_of"
