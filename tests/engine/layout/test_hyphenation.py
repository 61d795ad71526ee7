"""Words are broken as their language does, and only where nobody said otherwise."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workers.engine.layout.lines.hyphenation import can_hyphenate, hyphenate

SOFT = "\u00ad"


def cut(text: str, lang: str) -> str:
    return hyphenate(text, lang).replace(SOFT, "|")


def test_words_are_cut_by_the_patterns_of_their_language():
    assert cut("administration", "en-GB") == "ad|min|is|tra|tion"
    assert cut("Kostenübernahme", "de") == "Kos|ten|über|nahme"
    assert cut("établissement", "fr-CA") == "éta|blis|se|ment"


def test_two_letters_stay_before_a_hyphen_and_three_behind_it():
    assert cut("again", "en") == "again"
    assert cut("elephant", "en") == "ele|phant"


def test_marks_around_a_word_do_not_count():
    assert cut("(administration),", "en-GB") == "(ad|min|is|tra|tion),"


def test_words_with_hyphens_of_their_own_and_addresses_are_left():
    assert hyphenate(f"manu{SOFT}facturing", "en") == f"manu{SOFT}facturing"
    assert cut("accounting@administration.example", "en") == "accounting@administration.example"
    assert cut("https://administration.example", "en") == "https://administration.example"


def test_a_language_without_patterns_leaves_words_whole():
    assert not can_hyphenate("sw")
    assert cut("administration", "sw") == "administration"


def test_spelling_never_changes():
    # Hungarian writes asz-szony where it breaks: a point that would change letters is left out.
    assert cut("asszonnyal", "hu") == "asszonnyal"


@given(st.text(max_size=80), st.sampled_from(["en", "de", "hu", "ru", "el", "xx", "th"]))
def test_nothing_but_soft_hyphens_is_added(text: str, lang: str):
    assert hyphenate(text, lang).replace(SOFT, "") == text.replace(SOFT, "")
