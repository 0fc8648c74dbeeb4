"""An embedder behind HTTP, whatever its server does."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

import numpy as np
import pytest
from typing_extensions import override

from memory.embedding import remote
from memory.embedding.embedder import EmbedderFailed
from memory.embedding.remote import RemoteEmbedder

Answer: TypeAlias = tuple[int, object, dict[str, str]]


class Server:
    """Answers each request by the next of `answers`, the last again and again."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.answers: list[Callable[[dict[str, Any]], Answer]] = [good]


def good(asked: dict[str, Any]) -> Answer:
    """Vectors in another order than asked, of any length."""
    rows = [
        {"index": n, "embedding": [float(len(text)), 2.0, 0.0]}
        for n, text in enumerate(asked["input"])
    ]
    return 200, {"data": rows[::-1]}, {}


def answering(status: int, body: object, **headers: str) -> Callable[[dict[str, Any]], Answer]:
    return lambda _: (status, body, headers)


@pytest.fixture
def server() -> Iterator[tuple[Server, str]]:
    held = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            held.asked.append(json.loads(body))
            held.keys.append(self.headers["authorization"])
            answer = held.answers.pop(0) if len(held.answers) > 1 else held.answers[0]
            status, content, headers = answer(held.asked[-1])
            sent = content.encode() if isinstance(content, str) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        @override
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    yield held, f"http://127.0.0.1:{listening.server_address[1]}/v1"
    listening.shutdown()
    listening.server_close()
    thread.join(10)


def embedder(url: str, **changes: Any) -> RemoteEmbedder:
    return RemoteEmbedder(url, **{"model": "m", "width": 3, "key": "secret", **changes})


def test_vectors_come_in_the_order_of_the_texts_and_of_length_one(
    server: tuple[Server, str],
) -> None:
    """Ours: by index, normalised, in batches that every server takes."""
    held, url = server
    texts = ["x" * (n % 7) for n in range(150)]
    found = embedder(url).embed(texts)
    for text, pieces in zip(texts, found, strict=True):
        expected = np.array([max(len(text), 1), 2.0, 0.0])
        assert np.allclose(pieces, [expected / np.linalg.norm(expected)])
    assert [len(asked["input"]) for asked in held.asked] == [64, 64, 22]
    assert {asked["model"] for asked in held.asked} == {"m"}
    assert set(held.keys) == {"Bearer secret"}
    assert embedder(url).embed([]) == []


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (answering(200, {"data": [{"index": 0, "embedding": [1.0, 2.0]}]}), "EMBEDDER_WIDTH"),
        (answering(200, {"data": []}), "EMBEDDER_WIDTH"),
        (answering(200, {"data": [{"index": 0, "embedding": [0.0, 0.0, 0.0]}]}), "no direction"),
        (answering(200, '{"data": [{"index": 0, "embedding": [NaN, 1, 1]}]}'), "no direction"),
        (answering(200, "<html>"), "no list of embeddings"),
        (answering(200, []), "no list of embeddings"),
        (answering(401, {}), "HTTP 401"),
        (answering(503, {}, retry_after="0"), "HTTP 503"),
    ],
)
def test_what_is_no_vector_is_refused(
    server: tuple[Server, str], answer: Callable[[dict[str, Any]], Answer], said: str
) -> None:
    """Documented: wrong width and failures cost meaning alone, with a plain reason."""
    held, url = server
    held.answers = [answer]
    with pytest.raises(EmbedderFailed, match=said):
        embedder(url).embed(["x"])


def test_a_busy_server_is_asked_once_more(server: tuple[Server, str]) -> None:
    """Ours: after as long as it says."""
    held, url = server
    held.answers = [answering(429, {}, retry_after="0.01"), good]
    assert len(embedder(url).embed(["x"])) == 1
    assert len(held.asked) == 2


def test_a_server_that_hangs_or_is_away_fails_in_time(
    server: tuple[Server, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documented: deadlines."""
    held, url = server
    go = threading.Event()
    held.answers = [lambda asked: (go.wait(20), good(asked))[1]]
    monkeypatch.setattr(remote, "_SECS", 0.3)
    with pytest.raises(EmbedderFailed, match="away"):
        embedder(url).embed(["x"])
    go.set()
    with pytest.raises(EmbedderFailed, match="away"):
        embedder("http://127.0.0.1:1/v1").embed(["x"])
