"""Words are hyphenated by the patterns of their language, unless the document forbids it."""

from __future__ import annotations

import re
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.engine.layout.lines import hyphenation
from workers.engine.layout.lines.hyphenation import BY_TAG, can_hyphenate, hyphenate

SOFT = "\u00ad"
WORDS = Path(__file__).parent / "hyphenated"  # by another implementation: see its README
LANGUAGES = ["de", "en-GB", "en-US", "es", "fr", "it", "nl"]
PYPHEN_HAD = (  # noqa: SIM905
    "af as be bg ca cs da de el en eo es et eu fr gl hr hu id is it kn lt lv mn mr nb nl nn or pa pl pt "
    "ro ru sa sk sl sq sr sv te th uk"
).split()


OF_PATTERNS = (None, 2, 2)  # the least letters of German patterns


def cut(text: str, lang: str) -> str:
    return hyphenate(text, lang, OF_PATTERNS).replace(SOFT, "|")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_two_hundred_words_of_a_language_break_as_another_implementation_breaks_them(lang: str):
    words = (WORDS / f"{lang}.txt").read_text(encoding="utf-8").split()
    assert len(words) == 200
    written = [word.replace("-", "") for word in words]
    assert [hyphenate(word, lang, OF_PATTERNS).replace(SOFT, "-") for word in written] == words


def test_german_words_break_between_their_parts():
    assert cut("Grundstück Schifffahrt", "de") == "Grund|stück Schiff|fahrt"
    assert cut("Staubecken", "de") == "Staubecken"  # Staub-ecken or Stau-becken
    assert cut("Kostenübernahme", "de-AT") == "Kos|ten|über|nah|me"


def test_a_german_word_of_66_letters_has_hyphens():
    word = "Grundstücksverkehrsgenehmigungszuständigkeitsübertragungsverordnung"
    pieces = cut(word, "de").split("|")
    assert len(word) > 65
    assert pieces[:4] == ["Grund", "stücks", "ver", "kehrs"]
    assert max(map(len, pieces)) < 8


def test_the_exceptions_of_the_patterns_come_first():
    assert cut("present projects table", "en-US") == "present projects ta|ble"
    assert cut("Associate", "en-US") == "As|so|ciate"


def test_languages_of_one_name_have_patterns_of_their_own():
    assert cut("university", "en-US") == "uni|ver|sity"
    assert cut("hyphenation", "en-GB") == "hy|phen|a|tion"
    assert cut("hyphenation", "en") == cut("hyphenation", "en-US") == "hy|phen|ation"
    assert cut("Fenster", "de") == "Fens|ter"
    assert cut("Fenster", "de-1901") == "Fen|ster"


def test_each_language_has_its_own_fewest_letters_at_both_ends():
    assert cut("again", "en") == "again"
    assert cut("elephant", "en") == "ele|phant"
    assert cut("Kalender", "de-CH") == "Ka|len|der"
    assert cut("reference", "en-GB") == "ref|er|ence"


def test_german_leaves_three_letters_and_limits_replace_those_of_a_language():
    assert hyphenate("Kalender Stadtrates", "de").replace(SOFT, "|") == "Kalen|der Stadt|ra|tes"
    assert hyphenate("Kalender", "de", (9, None, None)) == "Kalender"
    assert hyphenate("administration", "en", (5, 4, 6)).replace(SOFT, "|") == "admin|is|tration"


def test_apostrophes_belong_to_the_words_of_some_languages():
    assert (
        cut("l'établissement l’administration", "fr-CA")
        == "l'éta|blis|se|ment l’ad|mi|nis|tra|tion"
    )
    assert cut("dell'amministrazione", "it") == "dell'am|mi|ni|stra|zio|ne"
    assert cut("administration's", "en-GB") == "ad|min|is|tra|tion's"


def test_parts_of_compound_words_are_words_of_their_own():
    assert cut("Haftpflicht-Versicherung", "de") == "Haft|pflicht-Ver|si|che|rung"
    assert cut("Mieter/Versicherungsnehmer", "de") == "Mie|ter/Ver|si|che|rungs|neh|mer"
    assert cut("MitarbeiterInnen", "de") == "Mit|ar|bei|terIn|nen"
    assert cut("KOSTENÜBERNAHME", "de") == "KOS|TEN|ÜBER|NAH|ME"


def test_a_number_may_stand_before_a_word_and_codes_are_left():
    assert cut("20jährigen", "de") == "20jäh|ri|gen"
    for code in ("COVID19abcdef", "deadbeef01234fedcba", "invoice_number", "Rechnung2024"):
        assert hyphenate(code, "de") == code


def test_accents_of_their_own_count_with_their_letters():
    written = "u\u0308berpru\u0308fen"
    assert cut(written, "de") == "u\u0308ber|pru\u0308|fen"
    assert cut("अंतर्राष्ट्रीय", "hi") == "अं|त|र्रा|ष्ट्रीय"


def test_marks_around_a_word_do_not_count():
    assert cut("(administration),", "en-GB") == "(ad|min|is|tra|tion),"


def test_words_with_hyphens_of_their_own_and_addresses_are_left():
    assert hyphenate(f"manu{SOFT}facturing", "en") == f"manu{SOFT}facturing"
    assert cut("accounting@administration.example", "en") == "accounting@administration.example"
    for address in (
        "https://administration.example",
        "administration.example",
        "src/engine/administration",
        "/administration",
        "C:\\administration",
    ):
        assert cut(address, "en") == address


def test_a_language_without_patterns_leaves_words_whole():
    assert not can_hyphenate("sw")
    assert cut("administration", "sw") == "administration"


@pytest.mark.parametrize("lang", PYPHEN_HAD)
def test_a_language_that_had_hyphens_has_them(lang: str):
    assert can_hyphenate(lang)


@pytest.mark.parametrize("lang", ["th-TH", "ar", "fa-IR", "he", "ja", "zh-Hant", "ko", "km"])
def test_a_script_without_hyphens_is_no_missing_language(lang: str):
    assert can_hyphenate(lang)


def test_thai_is_broken_without_hyphens():
    assert hyphenate("กรุงเทพมหานคร", "th") == "กรุงเทพมหานคร"


@pytest.mark.parametrize("lang", sorted(set(BY_TAG)))
def test_the_patterns_of_every_language_can_be_read(lang: str):
    assert can_hyphenate(lang)
    assert hyphenate("administration", lang).replace(SOFT, "") == "administration"


def test_every_file_of_patterns_is_used_and_names_its_authors():
    folder = Path(hyphenation.__file__).parent / "patterns"
    files = {path.stem.removeprefix("hyph-"): path for path in folder.glob("hyph-*.txt")}
    assert set(files) == set(BY_TAG.values())
    for path in files.values():
        comment = path.read_text(encoding="utf-8").partition("\nminima ")[0]
        assert re.search("(?i)authors?|copyright", comment), path.name


def test_a_word_of_many_letters_takes_no_more_than_its_length():
    start = process_time()
    hyphenate("a" * 200_000, "de")
    hyphenate(" ".join("ab" * 90 + "c" * (number % 17) for number in range(500)), "de")
    assert process_time() - start < 5


def test_spelling_never_changes():
    # Hungarian writes asz-szony where it breaks: a point that would change letters is left out.
    assert cut("asszonnyal", "hu") == "asszonnyal"


@given(st.text(max_size=80), st.sampled_from(["en", "de", "hu", "ru", "el", "xx", "th"]))
def test_nothing_but_soft_hyphens_is_added(text: str, lang: str):
    assert hyphenate(text, lang).replace(SOFT, "") == text.replace(SOFT, "")
