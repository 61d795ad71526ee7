"""Language tags are accepted by their form alone, as BCP 47 has it."""

from __future__ import annotations

import io
import time

import pikepdf
import pytest
from babel.core import get_global

from tests.golden.case import OPTIONS
from workers.engine.pipeline import render, validate
from workers.engine.ports import Payload, PayloadKind
from workers.engine.syntax.identifiers import is_right_to_left, read_language

WELL_FORMED = (
    *("de", "nan", "aii", "tlh", "zh-Hant", "zh-cmn-Hans-CN", "sr-Latn-RS", "sl-rozaj-biske-1994"),
    *("de-CH-1901", "hy-Latn-IT-arevela", "es-419", "de-CH-x-phonebk", "x-whatever", "x-a-b-c"),
    *("en-US-u-islamcal", "zh-CN-a-myext-x-private", "en-a-myext-b-another", "i-klingon"),
    *(
        "sgn-BE-FR",
        "en-GB-oed",
        "art-lojban",
        "zh-min-nan",
        "qaa-Qaaa-QM-x-southern",
        "DE-de",
        "root",
    ),
)
WITHOUT_FORMATS = (  # most of them, of ISO 639-1
    *(
        "ae",
        "av",
        "ay",
        "bi",
        "ch",
        "cr",
        "fj",
        "ho",
        "hz",
        "ik",
        "kg",
        "kj",
        "kv",
        "li",
        "mh",
        "na",
    ),
    *("ng", "pi", "rn", "sm", "ty"),
)
ILL_FORMED = (
    *(
        "",
        "e",
        "de_AT",
        "de-",
        "-de",
        "de--AT",
        "a-DE",
        "ar-a-aaa-b-bbb-a-ccc",
        "de-419-DE",
        "i-unknown",
    ),
    *(
        "en-x",
        "en-a",
        "toolongtag",
        "de-1901-1901",
        "../etc",
        "d\u00e9",
        "en-" + "x-" * 60 + "a",
        "de de",
    ),
)


@pytest.mark.parametrize("tag", WELL_FORMED)
def test_well_formed_tags_are_accepted(tag):
    assert read_language(tag) == tag


@pytest.mark.parametrize("tag", ILL_FORMED)
def test_ill_formed_tags_are_refused(tag):
    with pytest.raises(ValueError):
        read_language(tag)


def test_languages_without_formats_are_valid():
    text = "<p lang='{}'>{{{{ 1234.5 | number }}}} {{{{ today | date }}}}</p>"
    flow = "".join(text.format(lang) for lang in WITHOUT_FORMATS)
    document = f"<document><flow>{flow}</flow></document>"
    found = validate(None, Payload(PayloadKind.XML, document.encode()), options=OPTIONS)
    assert found.errors == ()
    assert {warning.code for warning in found.warnings} == {"unknown-language"}
    assert len(found.warnings) > len(WITHOUT_FORMATS) / 2


def test_a_document_in_a_language_without_formats_is_written_as_in_english():
    document = b"<document lang='tlh' currency='EUR'><flow><p>{{ 1234.5 | currency }}</p></flow></document>"
    rendered = render(None, Payload(PayloadKind.XML, document), options=OPTIONS)
    (warning,) = rendered.warnings
    assert warning.code == "unknown-language"
    assert '"tlh"; numbers, dates and currencies are written as in English' in warning.message
    with pikepdf.open(io.BytesIO(rendered.pdf)) as pdf:
        assert str(pdf.Root.Lang) == "tlh"


@pytest.mark.parametrize(
    "where", ["document lang='de_AT'", "document lang='{}'".format('{{ "de_AT" }}')]
)
def test_an_ill_formed_tag_is_an_error_with_the_accepted_form(where):
    document = f"<{where}><flow><p>a</p></flow></document>"
    found = validate(None, Payload(PayloadKind.XML, document.encode()), options=OPTIONS)
    assert [error.code for error in found.errors] == ["wrong-value"]
    assert (
        "accepted is a language tag as BCP 47 defines it, such as en, pt-BR, zh-Hant"
        in found.errors[0].message
    )


@pytest.mark.parametrize(
    ("lang", "is_rtl"),
    [
        *(
            ("ar", True),
            ("aii", True),
            ("he-IL", True),
            ("ur", True),
            ("dv", True),
            ("pa-PK", True),
        ),
        *(("uz-AF", True), ("az-Arab", True), ("ar-Latn", False), ("sd-IN", False), ("ckb", True)),
        *(
            ("yi", True),
            ("iw", True),
            ("ps-AF", True),
            ("tlh", False),
            ("nan", False),
            ("zh-min-nan", False),
        ),
        *(
            ("en-x-arab", False),
            ("arc", True),
            ("ks", True),
            ("ug", True),
            ("fa", True),
            ("syr", True),
        ),
    ],
)
def test_direction_follows_the_script(lang, is_rtl):
    assert is_right_to_left(lang) is is_rtl


def test_no_tag_takes_long():
    started = time.process_time()
    for text in ("a-" * 50_000, "aa-" * 33, "en" + "-abcdefgh" * 11, "en-" + "1a1a-" * 19 + "!"):
        with pytest.raises(ValueError):
            read_language(text)
    assert time.process_time() - started < 2  # backtracking would take minutes


def test_the_likely_scripts_are_those_of_cldr():
    assert get_global("likely_subtags")["aii"] == "aii_Syrc_IQ"
