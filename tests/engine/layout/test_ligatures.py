"""Common ligatures: where text has them by default, and where a language forbids them."""

from __future__ import annotations

import io
import string
from itertools import product

import pikepdf
import pypdfium2
import pytest
import uharfbuzz as hb
from fontTools.feaLib.builder import addOpenTypeFeaturesFromString
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

from tests.engine.layout.test_page_references import pdf_of
from tests.engine.typefaces import find_face
from workers.engine.fonts import find_shaper, has_ligatures
from workers.engine.fonts.faces import Face, Traits, find_ligatures
from workers.engine.layout.lines.hyphenation import find_unligated
from workers.engine.paint.writer import widen_to_alphabets
from workers.engine.syntax.typography import COMMON_LIGATURES, LIGATURES_KIND, FontVariants

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
    stated = {"font-variant-ligatures": LIGATURES_KIND.read("common-ligatures")}
    assert ("liga", 1) in inherited.apply_properties(stated, in_table=True).list_features()
    normal = FontVariants(ligatures=()).apply_properties(
        {"font-variant-ligatures": LIGATURES_KIND.read("normal")}, in_table=False
    )
    assert normal.list_ligatures() == COMMON_LIGATURES


@pytest.mark.parametrize("lang", ["en", "de"])
def test_text_with_ligatures_is_as_wide_as_shaped(lang: str):
    apart = find_unligated if lang == "de" else None
    joined = SERIF.ligatures.join(apart)
    shaper = find_shaper(SERIF, False, lang, COMMON_LIGATURES, apart)
    for word in (
        "office",
        "fluff",
        "affine",
        "Tiefflug",
        "Auflage",
        "Schifffahrt",
        "“fine,”",
        "of-fice",
    ):
        clusters = [cluster.text for cluster in shaper.words[word].clusters]
        letters = [SERIF.ligatures.letters.get(char, char) for char in joined[word]]
        assert letters == clusters, word
        assert SERIF.measure(joined[word]) == pytest.approx(shaper.words[word].width), word


def test_text_with_ligatures_is_in_one_font_with_all_other_text():
    file = pdf_of(
        '<document lang="en"><style element="document" font-family="serif"/><flow>'
        "<p>office fluff affine</p><p>no such letters</p></flow></document>"
    )
    with pikepdf.open(io.BytesIO(file)) as pdf:
        [font] = pdf.pages[0].resources.Font.values()
        assert b"<006600660069>" in font.ToUnicode.read_bytes()


def test_lines_with_ligatures_end_at_the_margin():
    words = "The officer in the first office found it difficult to offer a definite and reflective figure. "
    file = pdf_of(
        '<document lang="en"><page size="90mm 90mm" margin="5mm"/><flow>'
        f'<p font-family="serif" text-align="justify" hyphens="auto">{words * 6}</p></flow></document>'
    )
    page = pypdfium2.PdfDocument(file)[0].get_textpage()
    drawn = [at for at in range(page.count_chars()) if not page.get_text_range(at, 1).isspace()]
    by_line: dict[int, float] = {}
    for at in drawn:
        _, bottom, right, top = page.get_charbox(at, loose=True)
        line = round((bottom + top) / 2 / 13.5)
        by_line[line] = max(by_line.get(line, 0.0), right)
    lines = sorted(by_line.values())[1:]  # without the last one
    assert len(lines) > 8
    assert max(lines) - min(lines) < 1.2, "as far as letters reach to their edges"


def test_characters_that_stand_for_ligatures_are_not_text():
    # Such characters in a document are missing ones, whatever they stand for inside.
    file = pdf_of(
        '<document lang="en"><flow><p font-family="serif">office \U0010f000</p></flow></document>'
    )
    copied = pypdfium2.PdfDocument(file)[0].get_textpage().get_text_range()
    assert copied.split()[0] == "office"
    assert "f" not in "".join(copied.split()[1:])


def test_of_a_font_that_ligates_everything_some_ligatures_are_taken():
    """A font of an account may have a ligature for each two and each three letters."""
    letters = string.ascii_letters
    pairs = ["".join(two) for two in product(letters, repeat=2)]
    names = [".notdef", "space", *letters, *(f"x{at}" for at in range(len(pairs)))]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(" "): "space", **{ord(char): char for char in letters}})
    builder.setupGlyf(dict.fromkeys(names, TTGlyphPen(None).glyph()))
    builder.setupHorizontalMetrics({name: (700 if name[0] == "x" else 500, 0) for name in names})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "All", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    rules = "".join(f"sub {a} {b} by x{at};" for at, (a, b) in enumerate(pairs))
    addOpenTypeFeaturesFromString(builder.font, f"feature liga {{ {rules} }} liga;")
    file = io.BytesIO()
    builder.save(file)
    face = Face("All", hb.Face(hb.Blob(file.getvalue())), name="All", traits=Traits(is_custom=True))
    ligatures = find_ligatures(face)
    assert ligatures is not None
    assert len(ligatures.letters) == 1024


def test_a_merged_file_has_all_ligatures_of_a_face_once_it_has_one():
    stand_ins = SERIF.ligatures.letters.keys()
    assert stand_ins <= widen_to_alphabets(SERIF, {next(iter(stand_ins))})
    assert stand_ins.isdisjoint(widen_to_alphabets(SERIF, {"a"}))
