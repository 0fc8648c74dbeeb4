"""The local embedder, the real one."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from memory.embedding import local
from memory.embedding.embedder import EmbedderFailed
from memory.embedding.local import VOCABULARY, VOCABULARY_SHA256, MiniLM


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    return MiniLM()


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("How much may we spend?", "The budget is 40,000 dollars.", "The cat sat on the mat."),
        ("Who looks after the dog?", "Our puppy stays with Ann.", "The invoice was sent today."),
        ("When do we fly?", "The plane leaves on Monday.", "The soup needs more salt."),
    ],
)
def test_texts_that_mean_alike_lie_nearer(
    embedder: MiniLM, question: str, answer: str, other: str
) -> None:
    """Documented: meaning finds what shares no words."""
    asked, near, far = (pieces[0] for pieces in embedder.embed([question, answer, other]))
    assert float(asked @ near) > float(asked @ far) + 0.1


def test_the_end_of_a_long_text_is_seen(embedder: MiniLM) -> None:
    """Documented: nothing beyond 256 tokens stays unseen."""
    long = "The weather was fine all day. " * 60 + "The merger with Acme was called off."
    [pieces, asked] = embedder.embed([long, "Was the merger cancelled?"])
    assert pieces.shape[0] > 1
    nearest = int(np.argmax(pieces @ asked[0]))
    assert nearest == len(pieces) - 1


def test_a_text_has_the_same_vector_in_any_company(embedder: MiniLM) -> None:
    """Ours: padding counts for nothing; numbers of 8 bits differ a little by batch."""
    texts = ["short", "a somewhat longer text about budgets", "word " * 300]
    together = embedder.embed(texts)
    for text, pieces in zip(texts, together, strict=True):
        [alone] = embedder.embed([text])
        assert alone.shape == pieces.shape
        assert float((alone * pieces).sum(axis=1).min()) > 0.99
        assert np.allclose(np.linalg.norm(pieces, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("text", ["", "   ", "\x00", "\U0001f600", "\u4f1a\u8bae", "x" * 200_000])
def test_any_text_has_a_vector(embedder: MiniLM, text: str) -> None:
    """Ours: odd text is no error."""
    [pieces] = embedder.embed([text])
    assert pieces.shape[1] == embedder.width
    assert np.isfinite(pieces).all()
    assert embedder.embed([]) == []


def test_the_vocabulary_is_the_one_the_model_was_taught_on() -> None:
    """Documented: a hash test."""
    assert hashlib.sha256(VOCABULARY.read_bytes()).hexdigest() == VOCABULARY_SHA256


def test_a_file_that_is_another_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ours: no vectors of an unknown model."""
    other = tmp_path / "vocabulary.txt"
    other.write_text("[PAD]\n")
    monkeypatch.setattr(local, "VOCABULARY", other)
    with pytest.raises(EmbedderFailed, match=r"vocabulary\.txt is not the file"):
        MiniLM().embed(["x"])
