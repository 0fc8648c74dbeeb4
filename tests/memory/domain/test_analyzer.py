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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Identifiers: the whole and its parts.
        ("OPS-1181", "ops-1181 op 1181"),
        ("ops_1181", "ops_1181 op 1181"),
        ("JIRA/ABC-7", "jira/abc-7 jira abc-7 abc 7"),
        ("SKU 00417", "sku 00417"),
        # Versions, paths, addresses.
        ("v2.3.1", "v2.3.1 2.3.1 v2 3 1"),
        ("/etc/nginx.conf", "etc/nginx.conf etc nginx.conf nginx conf"),
        (r"C:\temp\a.txt", r"c temp\a.txt temp a.txt a txt"),
        ("Priya.K@Acme.com", "priya.k@acme.com priya.k priya k acme.com acm com"),
        ("https://ex.com/a?b=c", "https ex.com/a ex.com ex com a b=c b c"),
        ("#launch @bob", "#launch launch @bob bob"),
        # Amounts and dates.
        ("$40,000 40000", "40000"),
        ("1,234,567.50", "1234567.50 1234567 50"),
        ("40k 1.5m", "40000 40k 1.5m 1500000 1 5m"),
        ("2026-03-14", "2026-03-14 2026 03 3 14"),
        ("10:05", "10:05 10 05"),
        # Names of programs.
        ("getUserName HTTPServer", "getusernam get user name httpserver http server"),
        ("snake_case_name", "snake_case_name snake case name"),
        ("C++ C# .NET node.js", "c++ c c# net node.js node js"),
        # Contractions and hyphens.
        ("don't can't won't", "dont do not cant can wont will"),
        ("Priya's we're I'm", "priya we i"),
        ("O'Brien l\u2019homme", "obrien o brien lhomm l homm"),
        ("follow-up e-mail", "follow-up followup follow up e-mail email e mail"),
        # Emoji: a sequence and what it is made of, in any skin.
        ("\U0001f44d\U0001f3fd \u2764\ufe0f", "\U0001f44d \u2764"),
        (
            "\U0001f469\u200d\U0001f467",
            "\U0001f469\u200d\U0001f467 \U0001f469 \U0001f467",
        ),
        # Latin with and without accents.
        ("r\u00e9sum\u00e9", "r\u00e9sum\u00e9 resum"),
        ("Sch\u00f6n Stra\u00dfe", "sch\u00f6n schon strass"),
        ("Renewals RENEWAL renewal's", "renew"),
        # Other scripts, each by its stemmer where there is one.
        ("\u043c\u0438\u0440\u0430\u043c\u0438", "\u043c\u0438\u0440"),
        ("\u0401\u043b\u043a\u0430", "\u0435\u043b\u043a"),
        (
            "\u03b3\u03bb\u03ce\u03c3\u03c3\u03b1",
            "\u03b3\u03bb\u03c9\u03c3\u03c3",
        ),
        ("\u0627\u0644\u0633\u0651\u064e\u0644\u0627\u0645", "\u0633\u0644\u0627\u0645"),
        ("\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd", "\u05e9\u05dc\u05d5\u05dd"),
        ("\u0915\u093f\u0924\u093e\u092c\u0947\u0902", "\u0915\u093f\u0924\u093e\u092c"),
        ("\u0e44\u0e17\u0e22", "\u0e44\u0e17 \u0e17\u0e22 \u0e44\u0e17\u0e22"),
        ("\u5317\u4eac\u5e02", "\u5317 \u4eac \u5e02 \u5317\u4eac \u4eac\u5e02"),
        ("\u6771\u4eac\u30bf", "\u6771 \u4eac \u30bf \u6771\u4eac \u4eac\u30bf"),
        (
            "\ud55c\uad6d\uc5b4\ub97c",
            "\ud55c\uad6d \uad6d\uc5b4 \uc5b4\ub97c \ud55c\uad6d\uc5b4\ub97c",
        ),
        ("AI\u6280\u672f", "ai \u6280 \u672f \u6280\u672f"),
    ],
)
def test_what_a_text_is_found_by(text: str, expected: str) -> None:
    """Documented: one analyzer for index and queries, for every kind of text."""
    assert " ".join(query_terms(text)) == expected


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
    assert all(0 < len(lexeme.encode()) <= 200 for lexeme in lexemes.terms)


def test_a_word_that_is_too_long_is_cut_and_still_told_apart() -> None:
    """Regression: case 18, a word of 3 KB."""
    long, other = "x" * 3000, "x" * 2999 + "y"
    (lexeme,) = analyze(long).terms
    assert len(lexeme.encode()) <= 200
    assert query_terms(long) == (lexeme,)
    assert query_terms(other) != (lexeme,)


def test_a_query_as_long_as_a_document_is_looked_for_by_its_first_words() -> None:
    """Ours: at most 64 terms, each once."""
    assert len(query_terms(" ".join(f"w{n}" for n in range(1000)))) == MAX_QUERY_TERMS
    assert query_terms("again again") == ("again",)
