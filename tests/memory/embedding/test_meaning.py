"""Whatever an embedder does costs meaning and nothing else."""

import threading
from collections.abc import Iterator, Sequence
from time import monotonic

import numpy as np
import pytest
from typing_extensions import override

from memory.embedding import meaning as module
from memory.embedding.embedder import EmbedderFailed, Pieces
from memory.embedding.meaning import Meaning
from tests.memory.embedding.fakes import WIDTH, Ideas


class Broken(Ideas):
    """Answers whatever it is told to."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer

    @override
    def embed(self, texts: Sequence[str]) -> list[Pieces]:
        self.asked += texts
        if isinstance(self.answer, Exception):
            raise self.answer
        return [self.answer for _ in texts]  # type: ignore[misc]  # what a broken one answers


class Hanging(Ideas):
    """Hangs until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    @override
    def embed(self, texts: Sequence[str]) -> list[Pieces]:
        self.go.wait(30)
        return super().embed(texts)


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    embedder = Hanging()
    yield embedder
    embedder.go.set()


BROKEN = [
    ValueError("no"),
    EmbedderFailed("The server is away."),
    np.ones((1, WIDTH + 1), np.float32),
    np.ones((0, WIDTH), np.float32),
    np.full((1, WIDTH), np.nan, np.float32),
]


@pytest.mark.parametrize("answer", BROKEN, ids=lambda answer: str(answer)[:20])
def test_a_broken_embedder_costs_a_query_its_meaning(answer: object) -> None:
    """Documented: raising or wrong-width, never a keyword answer."""
    embedder = Broken(answer)
    meaning = Meaning(embedder)
    with meaning.query("What is the budget?") as vector:
        assert vector() is None
    with meaning.query("And now?") as vector:
        assert vector() is None
    assert embedder.asked == ["What is the budget?"], "a failed one rests"


@pytest.mark.parametrize("answer", BROKEN[1:], ids=lambda answer: str(answer)[:20])
def test_a_broken_embedder_gives_passages_no_vectors(answer: object) -> None:
    """Ours: the writer of vectors is told, and writes none."""
    with pytest.raises(EmbedderFailed):
        Meaning(Broken(answer)).passages(["The budget is small."])


def test_a_hanging_embedder_holds_a_query_no_longer_than_its_deadline(
    hanging: Hanging, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documented: deadlines; hanging costs meaning."""
    monkeypatch.setattr(module, "_QUERY_SECS", 0.1)
    monkeypatch.setattr(module, "_REST_SECS", 0.0)
    meaning = Meaning(hanging)
    began = monotonic()
    for _ in range(module._WAITING + 5):
        with meaning.query("What is the budget?") as vector:
            assert vector() is None
        if monotonic() - began > 2:
            break
    hanging.go.set()
    monkeypatch.setattr(module, "_QUERY_SECS", 10.0)
    with meaning.query("What is the budget?") as vector:
        assert vector() is not None, "once it answers again, meaning is back"


def test_a_script_that_the_embedder_does_not_read_has_no_vote() -> None:
    """Documented: on a query in another script meaning has no vote."""
    embedder = Ideas()
    meaning = Meaning(embedder)
    for text in ("\u9884\u7b97\u662f\u591a\u5c11", "\u0431\u044e\u0434\u0436\u0435\u0442", "42"):
        with meaning.query(text) as vector:
            assert vector() is None
    found = meaning.passages(["The budget", "\u9884\u7b97", "a dog"])
    assert [len(pieces) for pieces in found] == [1, 0, 1]
    assert embedder.asked == ["The budget", "a dog"]


def test_a_long_query_is_embedded_by_its_beginning() -> None:
    """Regression: one caller's query of 20,000 characters took all others' meaning for a while."""
    embedder = Ideas()
    with Meaning(embedder).query("budget " * 3_000) as vector:
        assert vector() is not None
    assert [len(text) for text in embedder.asked] == [1_000]


def test_a_query_of_several_pieces_is_their_mean() -> None:
    """Ours: one vector a query, of length 1."""
    two = np.array([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]], np.float32)
    with Meaning(Broken(two)).query("long") as vector:
        values = vector()
    assert values is not None
    assert np.allclose(values, [2**-0.5, 2**-0.5, 0, 0, 0])
