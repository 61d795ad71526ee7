"""OpenType features: which text has them, what is copied from it, and what a font lacks is reported."""

from __future__ import annotations

import io

import pypdfium2
import pytest
from fontTools.feaLib.builder import addOpenTypeFeaturesFromString
from fontTools.ttLib import TTFont

from tests.engine.layout.test_own_fonts import FONTS, Stored
from tests.engine.typefaces import find_face
from tests.golden.case import OPTIONS
from workers.engine.fonts import has_effect
from workers.engine.fonts.shaping import find_shaper
from workers.engine.pipeline import prepare_template, render
from workers.engine.syntax.typography import LIGATURES_KIND, NUMERIC_KIND, Features, read_features

SANS = find_face(("Noto Sans",), 400, False)
MONO = find_face(("JetBrains Mono",), 400, False)


def rendered(text: str, head: str = "", resources: Stored | None = None):
    source = f"<document>{head}<flow>{text}</flow></document>"
    template = prepare_template(source.encode())
    return render(template, None, options=OPTIONS, resources=resources or Stored())


def glyphs_of(word: str, features: Features = (), face=SANS) -> list[int]:
    shaped = find_shaper(face, False, "en", features).words[word]
    return [glyph for cluster in shaped.clusters for glyph, *_ in cluster.glyphs]


def with_tabular_figures() -> bytes:
    """Return a font whose 1 is narrower than other figures, unless they are tabular."""
    font = TTFont(io.BytesIO(FONTS["brand-regular"]))
    names = font.getBestCmap()
    widths = {digit: font["hmtx"][names[ord(digit)]][0] for digit in "0123456789"}
    assert len(set(widths.values())) > 1
    widest = max(widths.values())
    moves = "".join(
        f"pos {names[ord(digit)]} <0 0 {widest - width} 0>;" for digit, width in widths.items()
    )
    addOpenTypeFeaturesFromString(font, f"feature tnum {{ {moves} }} tnum;", tables=["GPOS"])
    written = io.BytesIO()
    font.save(written)
    return written.getvalue()


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("font-variant-caps", "small-caps"),
        ("font-variant-caps", "all-small-caps"),
        ("font-variant-numeric", "oldstyle-nums slashed-zero"),
        ("font-variant-numeric", "diagonal-fractions"),
        ("font-variant-position", "super"),
        ("font-variant-ligatures", "common-ligatures"),
        ("font-features", "'ss03' 1, 'case'"),
    ],
)
def test_text_with_features_is_copied_as_it_was_written(attribute, value):
    text = "Office affluent 1/2 of 3,450 (2024) on 24/11/2026"
    result = rendered(f'<p font-family="Noto Serif, Noto Sans" {attribute}="{value}">{text}</p>')
    assert words_of(result.pdf) == text.split()


def test_small_capitals_are_glyphs_of_the_font():
    assert glyphs_of("Abc", (("smcp", 1),)) != glyphs_of("Abc")
    assert glyphs_of("Abc", (("smcp", 1),))[0] == glyphs_of("Abc")[0]
    assert glyphs_of("Abc", (("c2sc", 1), ("smcp", 1)))[0] != glyphs_of("Abc")[0]


@pytest.mark.parametrize("text", ["24/11/2026", "1/2/3", "1.5/2", "a/b", "12", "/", "1/"])
def test_only_a_whole_number_over_another_is_a_fraction(text):
    assert glyphs_of(text, (("frac", 1),)) == glyphs_of(text)


@pytest.mark.parametrize("text", ["1/2", "31/100", "(1/2)", "1/2.", "1/2,"])
def test_a_fraction_is_drawn_as_one(text):
    assert glyphs_of(text, (("frac", 1),)) != glyphs_of(text, (("frac", 0),))


def test_a_feature_that_changes_nothing_leaves_text_written_by_characters():
    assert not has_effect((("smcp", 1),), MONO)
    assert not has_effect((("tnum", 1),), SANS)  # they are tabular by design
    assert has_effect((("onum", 1), ("tnum", 1)), SANS, "12")
    assert not has_effect((("onum", 1),), SANS, "text")
    assert has_effect((("kern", 0),), SANS, "text")


def test_figures_of_a_table_stand_below_each_other_in_a_font_of_proportional_figures():
    face = '<font family="Brand" src="brand"/><style element="document" font-family="Brand"/>'
    stored = Stored(brand=with_tabular_figures())

    def left_edges(attributes: str, amounts: tuple[str, str] = ("1111", "8888")) -> set[float]:
        rows = "".join(f"<tr><td>{amount}|</td></tr>" for amount in amounts)
        table = f"<table {attributes}>{rows}</table>"
        result = rendered(table, face, stored)
        return bars_of(result.pdf)

    assert len(left_edges("")) == 1
    assert len(left_edges('font-variant-numeric="proportional-nums"')) == 2


def words_of(pdf: bytes) -> list[str]:
    return pypdfium2.PdfDocument(pdf)[0].get_textpage().get_text_range().split()


def bars_of(pdf: bytes) -> set[float]:
    """Return where the bars behind figures are, in points."""
    page = pypdfium2.PdfDocument(pdf)[0].get_textpage()
    text = page.get_text_range()
    return {round(page.get_charbox(at)[0], 1) for at, char in enumerate(text) if char == "|"}


def test_a_missing_font_feature_is_reported_once_with_its_position():
    text = '<p font-variant-caps="small-caps" font-family="JetBrains Mono">{}</p>'
    result = rendered(text.format("one") + text.format("two"))
    [warning] = result.warnings
    assert warning.code == "missing-feature"
    assert 'The font "JetBrains Mono" has no OpenType feature "smcp"' in warning.message
    assert warning.chain[0].tag_name == "p"


def test_a_missing_feature_is_reported_in_cells_too():
    table = "<table font-features=\"'cv99'\"><tr><td>1</td></tr></table>"
    assert [warning.code for warning in rendered(table).warnings] == ["missing-feature"]


def test_features_override_variants_and_a_child_replaces_inherited_ones():
    def advance(attributes: str, inner: str = "") -> bytes:
        return rendered(f"<p {attributes}><span {inner}>Hamburg 012</span></p>").pdf

    plain = advance("")
    caps = 'font-variant-caps="small-caps"'
    assert advance(caps) != plain
    assert advance(caps, 'font-variant-caps="normal"') == plain
    assert advance(f"{caps} font-features=\"'smcp' off\"") == plain


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (NUMERIC_KIND.read, ""),
        (NUMERIC_KIND.read, "lining-nums oldstyle-nums"),
        (NUMERIC_KIND.read, "lining-nums lining-nums"),
        (NUMERIC_KIND.read, "normal lining-nums"),
        (LIGATURES_KIND.read, "common-ligatures common-ligatures"),
        (LIGATURES_KIND.read, "ligatures"),
        (read_features, "smcp"),
        (read_features, "'smcp' -1"),
        (read_features, "'smcp' 1001"),
        (read_features, "'smcp' 1, 'smcp' 0"),
        (read_features, "'smcp\""),
        (read_features, "'smc\u00e9'"),
        (read_features, ", ".join(f"'ss{n:02}'" for n in range(21))),
    ],
)
def test_a_wrong_value_is_refused(read, text):
    with pytest.raises(ValueError):
        read(text)


def test_values_are_read_as_css_does():
    assert NUMERIC_KIND.read("tabular-nums oldstyle-nums") == ("onum", "tnum")
    assert read_features("'ss01', \"cv05\" 2, 'kern' off") == (
        ("cv05", 2),
        ("kern", 0),
        ("ss01", 1),
    )
