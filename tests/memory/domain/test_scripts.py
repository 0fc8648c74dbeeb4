"""Which script a text is in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.scripts import script_of


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("What is the budget?", "Latin"),
        ("Stra\u00dfe \u00e9t\u00e9", "Latin"),
        ("\u0431\u044e\u0434\u0436\u0435\u0442 of Acme", "Cyrillic"),
        ("\u03b3\u03bb\u03ce\u03c3\u03c3\u03b1", "Greek"),
        ("\u0645\u064a\u0632\u0627\u0646\u064a\u0629", "Arabic"),
        ("\u05e9\u05dc\u05d5\u05dd", "Hebrew"),
        ("\u0939\u093f\u0928\u094d\u0926\u0940", "Devanagari"),
        ("\u0e44\u0e17\u0e22", "Thai"),
        ("\u9884\u7b97", "Han"),
        ("\u3053\u308c", "Kana"),
        ("\ud55c\uad6d\uc5b4", "Hangul"),
        ("\u10d0\u10d1\u10d2", "other"),
        ("42 + 1", "none"),
        ("\u2764", "none"),
        ("", "none"),
    ],
)
def test_a_script_is_that_of_most_letters(text: str, script: str) -> None:
    """Documented: an embedder says which scripts it reads."""
    assert script_of(text) == script


@given(st.text())
def test_every_text_has_a_script(text: str) -> None:
    """Ours: never an error."""
    assert script_of(text)
