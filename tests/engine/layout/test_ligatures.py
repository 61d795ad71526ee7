"""Common ligatures: where text has them by default, and where a language forbids them."""

from __future__ import annotations

import pypdfium2
import pytest

from tests.engine.layout.test_page_references import pdf_of
from workers.engine.layout.fonts import find_face, find_shaper, has_ligatures
from workers.engine.layout.lines.seams import find_unligated
from workers.engine.syntax.font_variants import COMMON_LIGATURES, FontVariants, read_ligatures

SERIF = find_face(("serif",), 400, False)
SANS = find_face(("sans-serif",), 400, False)


def clusters_of(word: str) -> str:
    """Return a German word with its ligatures in brackets."""
    clusters = (
        find_shaper(SERIF, False, "de", COMMON_LIGATURES, find_unligated).words[word].clusters
    )
    return "".join(c.text if len(c.text) == 1 else f"({c.text})" for c in clusters)


@pytest.mark.parametrize(
    "word",
    [
        *("Schi(ff)", "Wa(ff)el", "Ho(ff)nung", "stra(ff)en", "scha(ff)t", "O(ffi)zier", "Kon(fl)ikt", "hau(fi)g"),
        *("Auflage", "höflich", "Auffahrt", "fünffach", "Kauflust", "Schilfinsel", "Brieffreund", "straffrei"),
        *("Tief(fl)ug", "Schi(ff)fahrt", "Sto(ff)(fl)asche", "Sto(ff)lager", "tre(ff)lich", "Au\u00adf\u00adfahrt"),
    ],
)  # fmt: skip
def test_german_ligatures_stand_inside_a_part_of_a_word(word: str):
    assert clusters_of(word.replace("(", "").replace(")", "")) == word


def test_words_of_any_kind_have_seams_inside_them():
    for word in ("", "f", "ff", "fff", "f" * 200, "f\u00adf", "FFI", "\u0130ffi", "f-i", "f1f"):
        assert all(0 <= at < len(word) for at in find_unligated(word))


def test_a_ligature_as_wide_as_its_letters_is_left_out():
    assert has_ligatures(SERIF, "office")
    assert not has_ligatures(SERIF, "word")
    assert not has_ligatures(SANS, "office")


@pytest.mark.parametrize("ligated", [True, False])
def test_text_has_ligatures_and_is_extracted_letter_by_letter(ligated: bool):
    widths = []
    for ligatures in ("normal" if ligated else "none", "none"):
        file = pdf_of(
            f'<document lang="en"><flow><p font-family="serif" font-variant-ligatures="{ligatures}">'
            "office fluff affine</p></flow></document>"
        )
        text = pypdfium2.PdfDocument(file)[0].get_textpage()
        assert text.get_text_range().strip() == "office fluff affine"
        widths.append(text.get_rect(0) if text.count_rects() else None)
    assert (widths[0] != widths[1]) is ligated


@pytest.mark.parametrize(
    ("attributes", "has_some"),
    [
        ('lang="en"', True),
        ('lang="fr"', True),
        ('lang="tr"', False),
        ('lang="az-Latn"', False),
        ('letter-spacing="1pt"', False),
        ("font-features=\"'liga' off\"", False),
        ('font-variant-ligatures="none"', False),
    ],
)
def test_language_and_spacing_decide_on_ligatures(attributes: str, has_some: bool):
    def width(more: str) -> float:
        file = pdf_of(
            f'<document><flow><p font-family="serif" {more}>ff ff ff ff</p></flow></document>'
        )
        page = pypdfium2.PdfDocument(file)[0].get_textpage()
        assert page.count_rects()
        left, _, right, _ = page.get_rect(0)
        return round(right - left, 1)

    apart = attributes if "letter-spacing" in attributes else ""
    plain = width(f'{apart} font-variant-ligatures="none"')
    assert (width(attributes) != plain) is has_some


def test_ligatures_of_a_table_are_those_stated():
    inherited = FontVariants().apply_properties({}, in_table=True)
    assert inherited.list_ligatures() == ()
    stated = {"font-variant-ligatures": read_ligatures("common-ligatures")}
    assert ("liga", 1) in inherited.apply_properties(stated, in_table=True).list_features()
    normal = FontVariants(ligatures=()).apply_properties(
        {"font-variant-ligatures": read_ligatures("normal")}, in_table=False
    )
    assert normal.list_ligatures() == COMMON_LIGATURES
