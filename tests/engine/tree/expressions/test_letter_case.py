"""Capitals and small letters as the language of the text writes them."""

from __future__ import annotations

import pytest

from tests.engine.tree.documents import evaluate
from workers.engine.tree.expressions.formats import get_formats
from workers.engine.tree.expressions.running_text import apply_text_transform


@pytest.mark.parametrize(
    ("lang", "name", "text", "written"),
    [
        ("tr", "upper", "istanbul ışık", "İSTANBUL IŞIK"),
        ("az-Latn", "lower", "IĞDIR İZMİR", "ığdır izmir"),
        ("tr-TR", "capitalize", "istanbul", "İstanbul"),
        ("tr", "title", "izmir iğdir", "İzmir İğdir"),
        ("el", "upper", "Άγιος Μάιος ή Μαΐου", "ΑΓΙΟΣ ΜΑΪΟΣ Ή ΜΑΪΟΥ"),
        ("el", "title", "άγιος", "Άγιος"),
        ("de", "upper", "straße i", "STRASSE I"),
    ],
)
def test_filters_change_case_as_the_language_does(lang, name, text, written):
    assert get_formats(lang, "EUR", "UTC")[name, (), ()](text) == written


def test_filters_of_case_take_numbers_and_no_value():
    assert evaluate("5 | upper") == "5"
    assert evaluate("none | upper") == ""


@pytest.mark.parametrize(
    ("how", "written"),
    [
        ("uppercase tr", "İKI"),
        ("uppercase el", "IKI"),
        ("capitalize tr", "İkI"),
        ("lowercase tr", "ikı"),
        ("none", "ikI"),
    ],
)
def test_text_transform_changes_case_as_the_language_does(how, written):
    assert apply_text_transform("ikI", how) == written
