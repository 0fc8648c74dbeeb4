"""The sample files and the demo's questions about them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from ampup_site.kernel.clock import Micros
from memory.domain.analyzer import analyze, query_terms
from memory.domain.indexed import index_body
from memory.domain.neighbours import Neighbours, in_thread_order
from memory.domain.postings import ASSISTANT, lists_of, term_key, unpack
from memory.domain.ranking import Corpus, TermList, keyword_scores
from memory.domain.units import UnitKind
from memory.domain.weights import term_weight
from memory.loaders.document import read_document
from memory.loaders.item import FileItem
from memory.loaders.transcript import is_transcript, read_transcript

SAMPLES: Final = Path(__file__).parents[3] / "samples"
FUNCTION_WORDS: Final = re.compile(
    r"\b(?:a|an|and|are|at|be|by|can|could|do|does|for|from|had|has|have|how|if|in|is|it|might"
    r"|of|on|or|should|that|the|there|they|this|to|was|we|were|what|when|where|which|who|whose"
    r"|why|will|with|would)\b",
    re.IGNORECASE,
)


def _items() -> Iterator[tuple[FileItem, UnitKind]]:
    for path in sorted((SAMPLES / "meetings").glob("*.txt")):
        for _, item in read_transcript(path.read_bytes(), name=path.name, occurred_at=Micros(0)):
            assert isinstance(item, FileItem)
            yield item, UnitKind.TURN
    for path in sorted((SAMPLES / "notes").glob("*.md")):
        for _, item in read_document(path.read_bytes(), path=path.name, modified_at=Micros(0)):
            assert isinstance(item, FileItem)
            yield item, UnitKind.PARAGRAPH


def _ranked(question: str) -> list[tuple[str, str]]:
    """Return (source, text) of all sample passages, best first."""
    rows = [
        (item.source, passage) for item, kind in _items() for passage in index_body(item.body, kind)
    ]
    forward = unpack([row.terms for _, row in rows])
    terms = query_terms(question)
    keys = [term_key(term) for term in terms]
    sources = sorted({source for source, _ in rows})
    threads = np.array([sources.index(source) for source, _ in rows], np.int64)
    seen, occurred = np.ones(len(rows), bool), np.zeros(len(rows), np.int64)
    order = in_thread_order(threads, occurred)
    scores = keyword_scores(
        Corpus(
            rids=np.arange(len(rows)),
            lengths=forward.lengths,
            seen=seen,
            lists=[
                TermList(numbers.astype(np.int64), counts, term_weight(terms[place]))
                for place, numbers, counts in lists_of(forward, keys)
            ],
            missing=0.0,
            occurred=occurred,
            assistant=forward.flags & ASSISTANT != 0,
            neighbours=Neighbours.among(order, seen, threads=threads, occurred=occurred),
        )
    ).scores
    best = sorted(range(len(rows)), key=lambda place: -scores[place])
    return [(rows[place][0], rows[place][1].text) for place in best]


def _questions() -> list[dict[str, object]]:
    questions: list[dict[str, object]] = json.loads((SAMPLES / "questions.json").read_text())
    return questions


@pytest.mark.parametrize("case", _questions(), ids=lambda case: str(case["question"]))
def test_keyword_search_finds_what_a_question_shares_two_words_with(
    case: dict[str, object],
) -> None:
    """Ours: the demo's questions are answered by what is rare in them, not by their wording."""
    asked = FUNCTION_WORDS.sub(" ", str(case["question"]))
    best = _ranked(str(case["question"]))[:3]
    shared = [
        len(set(query_terms(asked)) & analyze(text).terms.keys())
        for source, text in best
        if source == case["expect_source"]
    ]
    assert shared, [source for source, _ in best]
    assert min(shared) <= int(str(case["max_shared"])) <= 2


def test_the_samples_are_four_meetings_of_many_passages_and_some_notes() -> None:
    """Documented: four or more real transcripts, 150 passages or more in all, and notes."""
    items = list(_items())
    passages = [len(index_body(item.body, kind)) for item, kind in items if kind is UnitKind.TURN]
    assert len(passages) >= 4
    assert sum(passages) >= 150
    assert len(items) - len(passages) >= 8
    for item, kind in items:
        assert is_transcript(item.body) is (kind is UnitKind.TURN), item.source
