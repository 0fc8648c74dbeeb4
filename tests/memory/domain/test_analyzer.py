"""What lexemes a text has."""

import unicodedata

import pytest
from hypothesis import given

from memory.domain.analyzer import MAX_QUERY_TERMS, analyze, query_terms
from tests.memory.domain.texts import BODIES


@pytest.mark.parametrize(
    "word",
    [
        *("caf\u00e9", "na\u00efve", "\u00c5ngstr\u00f6m", "\u1e69", "Vi\u1ec7t", "\uac00"),
        *("\u304c", "\ufb01ne", "\uff21\uff22\uff23", "Stra\u00dfe", "\u1fb3"),
    ],
)
@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_a_word_is_found_in_every_form_it_is_written_in(word: str, form: str) -> None:
    """Regression: case 7, composed and decomposed, full width and ligatures."""
    written = unicodedata.normalize(form, word)  # type: ignore[arg-type]
    assert analyze(written) == analyze(word)
    assert query_terms(written.upper() if form == "NFD" else written)


def test_letter_case_and_english_endings_make_no_difference() -> None:
    """Ours: case-folded, with English stems."""
    assert query_terms("Renewals RENEWAL renewal's") == ("renew", "s")
    assert query_terms("STRASSE stra\u00dfe") == ("strass",)


def test_no_word_is_left_out_and_words_are_counted() -> None:
    """Ours: there are no stop words; the length counts repeats."""
    lexemes = analyze("to be, or not to be")
    assert lexemes.terms == {"to": 2, "be": 2, "or": 1, "not": 1}
    assert lexemes.length == 6


@given(BODIES)
def test_a_query_finds_the_words_of_a_text(body: str) -> None:
    """Ours: index and query read text by the same rules."""
    lexemes = analyze(body)
    assert query_terms(body) == tuple(lexemes.terms)[:MAX_QUERY_TERMS]
    assert sum(lexemes.terms.values()) == lexemes.length


def test_a_word_that_is_too_long_for_postgres_is_cut_and_still_told_apart() -> None:
    """Regression: case 18, a word of 3 KB; a lexeme must stay below 2 KB."""
    long, other = "\u4f1a" * 1000, "\u4f1a" * 999 + "\u8bae"
    (lexeme,) = analyze(long).terms
    assert len(lexeme.encode()) <= 200
    assert query_terms(long) == (lexeme,)
    assert query_terms(other) != (lexeme,)


def test_a_query_as_long_as_a_document_is_looked_for_by_its_first_words() -> None:
    """Ours: at most 64 terms, each once."""
    assert len(query_terms(" ".join(f"w{n}" for n in range(1000)))) == MAX_QUERY_TERMS
    assert query_terms("again again") == ("again",)
