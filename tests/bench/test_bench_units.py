"""The parts of the bench that a wrong figure could hide in: texts, baseline, refusal, verdicts."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from bench.corpus import (
    FULL,
    NOTE_BYTES,
    PASSAGE_BYTES,
    VOCABULARY,
    TextSource,
    draw_acls,
    draw_vectors,
    invent_words,
    place_in_scopes,
)
from bench.durability import NEEDED, NotRecordable, check_recordable, filesystem_of
from bench.figures import percentile
from bench.report import Result, at_least, at_most, merge, value_at_most
from bench.table import with_table
from bench.tokenizer import ReferenceTokenizer

GOLDEN_TEXTS = "99eaf50025de4d1e"
DURABLE = dict.fromkeys(NEEDED, "on")


def test_the_reference_tokenizer_gives_its_golden_tokens() -> None:
    """Ours: the baseline of every rate must never change with the product."""
    tokens = ReferenceTokenizer().tokens(
        "\uff26\uff55\uff4c\uff4c-width Notes, running_late; the cafés' 12 Meetings."
    )
    assert tokens == ["full", "width", "note", "running_l", "the", "café", "12", "meet"]


def test_the_reference_tokenizer_answers_alike_from_its_cache() -> None:
    """Ours: a warm cache only makes it faster."""
    tokenizer = ReferenceTokenizer()
    text = "Running runners ran; RUNNING again."
    assert tokenizer.tokens(text) == tokenizer.tokens(text) == ReferenceTokenizer().tokens(text)


def test_the_corpus_is_a_function_of_its_seed() -> None:
    """Ours: figures of two machines speak of the same bytes."""
    first = TextSource(stream=5).texts(50, PASSAGE_BYTES)
    again = TextSource(stream=5).texts(50, PASSAGE_BYTES)
    other = TextSource(stream=6).texts(50, PASSAGE_BYTES)
    assert first == again
    assert not set(first) & set(other)
    digest = hashlib.sha256("\n".join(first).encode()).hexdigest()
    assert digest.startswith(GOLDEN_TEXTS)


@pytest.mark.parametrize("size", [NOTE_BYTES, PASSAGE_BYTES])
def test_texts_keep_to_their_size_in_bytes(size: tuple[int, int]) -> None:
    """Documented: notes are of about 430 bytes, passages of 1,200 to 1,500."""
    texts = TextSource(stream=7).texts(200, size)
    assert all(size[0] <= len(text.encode()) <= size[1] for text in texts)
    assert all(text == text.strip() for text in texts)
    assert len(set(texts)) == 200


def test_the_vocabulary_is_large_and_its_use_is_skewed() -> None:
    """Documented: a Zipf vocabulary of at least 30,000 words."""
    words = invent_words()
    assert len(set(words)) == VOCABULARY >= 30_000
    drawn = " ".join(TextSource(stream=8).texts(2_000, PASSAGE_BYTES)).lower().replace(".", "")
    counts = sorted(np.unique(drawn.split(), return_counts=True)[1].tolist(), reverse=True)
    assert len(counts) > 25_000
    assert 0.2 < sum(counts[:100]) / sum(counts) < 0.6


def test_one_scope_holds_four_fifths_and_no_passage_is_lost() -> None:
    """Documented: 20 scopes of which one holds 80 %."""
    counts = place_in_scopes(FULL)
    assert (len(counts), counts[0], sum(counts)) == (20, 80_000, 100_000)
    assert max(counts[1:]) - min(counts[1:]) <= 1


def test_acl_sets_are_distinct_and_seeded() -> None:
    """Documented: 3,000 ACL sets."""
    acls = draw_acls(3_000)
    assert len(set(acls)) == 3_000
    assert acls == draw_acls(3_000)
    assert all(acl == tuple(sorted(set(acl))) for acl in acls)


def test_vectors_are_seeded_and_of_length_one() -> None:
    """Ours: drawn vectors stand in for an embedder's."""
    vectors = draw_vectors(64, stream=1)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert np.array_equal(vectors, draw_vectors(64, stream=1))


@pytest.mark.parametrize("name", NEEDED)
def test_nothing_is_recorded_when_postgres_may_lose_a_commit(name: str) -> None:
    """Documented: the bench refuses to record unless all three are on."""
    check_recordable(DURABLE, {"warehouse": "ext4"})
    with pytest.raises(NotRecordable, match=name):
        check_recordable({**DURABLE, name: "off"}, {"warehouse": "ext4"})


def test_nothing_is_recorded_on_a_filesystem_in_memory() -> None:
    """Documented: the warehouse is no tmpfs."""
    with pytest.raises(NotRecordable, match="warehouse stands on tmpfs"):
        check_recordable(DURABLE, {"warehouse": "tmpfs"})


def test_the_filesystem_of_a_folder_is_that_of_its_deepest_mount() -> None:
    """Ours: /proc is a mount of its own everywhere we run."""
    assert filesystem_of(Path("/proc/self")) == "proc"


def test_a_verdict_is_on_the_ratio_or_on_the_value() -> None:
    """Ours: both sides of each kind of bar."""
    assert Result("a", 8.0, "ms", 10.0, at_most(0.8)).passed
    assert not Result("a", 8.1, "ms", 10.0, at_most(0.8)).passed
    assert not Result("a", 4.9, "notes/s", 10.0, at_least(0.5)).passed
    assert not Result("a", 250.1, "ms", None, value_at_most(250)).passed
    assert Result("a", 1.0, "ms").passed is None
    assert not Result("a", 1.0, "ms", None, at_most(1)).passed


def test_a_result_line_has_the_promised_fields() -> None:
    """Documented: name, value, unit, baseline, ratio; ours: the bar and the verdict."""
    assert Result("write_one", 6.0, "ms", 15.0, at_most(0.8)).line() == {
        "name": "write_one",
        "value": 6.0,
        "unit": "ms",
        "baseline": 15.0,
        "ratio": 0.4,
        "bar": "<= 0.8 x",
        "passed": True,
    }


def test_a_partial_run_replaces_only_the_benches_it_ran() -> None:
    """Ours: `--only` must not drop what an earlier run found, nor keep half of a bench."""
    old: list[dict[str, object]] = [
        {"name": "batch"},
        {"name": "batch.connections"},
        {"name": "rebuild"},
    ]
    assert merge([{"name": "batch"}], old) == [{"name": "rebuild"}, {"name": "batch"}]


def test_percentiles_are_observed_values() -> None:
    """Ours: no interpolation, so a maximum is something that happened."""
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert [percentile(values, share) for share in (0.0, 0.5, 0.99, 1.0)] == [1.0, 3.0, 5.0, 5.0]


def test_the_table_of_figures_stands_between_its_marks_and_nothing_else_moves() -> None:
    """Ours: the README's figures are written, never typed."""
    readme = "before\n<!-- figures: x -->\nold\n<!-- end of figures -->\nafter\n"
    result = Result("write_one", 6.0, "ms", 15.0, at_most(0.8)).line()
    document = {
        "taken_at": "2026-12-01T03:00:00+00:00",
        "machine": {"cores": 2, "python": "3.11.7", "postgres": {"server_version": "18.6"}},
        "results": [result, Result("batch.writes", 12_345.0, "writes/s").line()],
    }
    written = with_table(readme, document)
    assert written.startswith("before\n<!-- figures: x -->\nTaken at 2026-12-01T03:00:00+00:00")
    assert "| `write_one` | 6 | ms | 15 | 0.4 | <= 0.8 x | yes |" in written
    assert "| `batch.writes` | 12,340 | writes/s |  |  |  |  |" in written
    assert written.endswith("<!-- end of figures -->\nafter\n")
    assert with_table(written, document) == written
