"""Which embedder the environment names."""

import pytest

from ampup_site.settings.embedders import ServedEmbedder, embedder
from ampup_site.settings.env import BadSetting


def _named(monkeypatch: pytest.MonkeyPatch, **variables: str) -> object:
    for name in ("EMBEDDER", "EMBEDDER_MODEL", "EMBEDDER_WIDTH", "EMBEDDER_KEY"):
        monkeypatch.delenv(f"AMPUP_MEMORY_{name}", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(f"AMPUP_MEMORY_{name}", value)
    return embedder()


def test_the_local_one_is_the_default_and_none_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documented: the local embedder without any setting; no model is a normal state."""
    assert _named(monkeypatch) == "local"
    assert _named(monkeypatch, EMBEDDER="local") == "local"
    assert _named(monkeypatch, EMBEDDER="none") is None


def test_a_served_one_is_named_by_url_model_and_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documented: any OpenAI-compatible `/embeddings`; a key is never shown."""
    url = "https://api.example.com/v1"
    named = {"EMBEDDER": url, "EMBEDDER_MODEL": "m", "EMBEDDER_WIDTH": "1024"}
    assert _named(monkeypatch, **named) == ServedEmbedder(url, "m", 1024, None)
    held = _named(monkeypatch, **named, EMBEDDER_KEY="secret")
    assert held == ServedEmbedder(url, "m", 1024, "secret")
    assert "secret" not in repr(held)


@pytest.mark.parametrize(
    ("variables", "variable"),
    [
        ({"EMBEDDER": "minilm"}, "EMBEDDER must be"),
        ({"EMBEDDER": "ftp://x"}, "EMBEDDER must be"),
        ({"EMBEDDER": "https://x/v1"}, "EMBEDDER_MODEL"),
        ({"EMBEDDER": "https://x/v1", "EMBEDDER_MODEL": "m"}, "EMBEDDER_WIDTH"),
        (
            {"EMBEDDER": "https://x/v1", "EMBEDDER_MODEL": "m", "EMBEDDER_WIDTH": "wide"},
            "EMBEDDER_WIDTH",
        ),
    ],
)
def test_what_cannot_be_used_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], variable: str
) -> None:
    """Documented: wrong values are refused at the start, by name."""
    with pytest.raises(BadSetting, match=variable):
        _named(monkeypatch, **variables)
