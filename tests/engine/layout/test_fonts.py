"""The fixed faces: measures, coverage, fallback and the codes they are written in."""

from __future__ import annotations

import pytest

from tests.engine.typefaces import find_face, find_missing, split_by_face
from workers.engine.characters import has_right_to_left
from workers.engine.fonts import FAMILIES, GENERIC_FAMILIES
from workers.engine.fonts.faces import write_codes
from workers.engine.fonts.shaping import needs_shaping

GENERAL = ("Noto Sans", "Noto Serif", "JetBrains Mono")


@pytest.mark.parametrize("family", GENERAL)
@pytest.mark.parametrize(
    ("weight", "is_italic"), [(400, False), (700, False), (400, True), (700, True)]
)
def test_every_family_has_four_faces_that_cover_latin_greek_and_cyrillic(family, weight, is_italic):
    face = find_face((family,), weight, is_italic)
    assert face.family == family
    assert (face.is_bold, face.is_italic) == (weight == 700, is_italic)
    assert face.covers_all("Grüße, Ωμέγα, Привет €")
    assert 0.9 < face.ascent < 1.2
    assert 0.2 < face.descent < 0.4
    assert 0.6 < face.cap_height < 0.8
    assert face.underline_position < 0 < face.underline_thickness < face.strike_position


def test_families_are_found_by_any_case_and_by_their_generic_names():
    assert find_face(("noto SERIF",), 400, False).family == "Noto Serif"
    for alias, family in GENERIC_FAMILIES.items():
        assert find_face((alias,), 400, False).family == family


def test_unknown_families_are_passed_over():
    assert find_face(("Comic Sans", "monospace"), 400, False).family == "JetBrains Mono"
    assert find_face((), 400, False).family == "Noto Sans"


@pytest.mark.parametrize(
    ("weight", "is_bold"), [(100, False), (500, False), (600, True), (900, True)]
)
def test_nearest_weight_is_taken(weight, is_bold):
    assert find_face(("serif",), weight, False).is_bold is is_bold


def test_width_is_the_sum_of_advances():
    face = find_face(("monospace",), 400, False)
    assert face.measure("") == 0
    assert face.measure("twelve chars") == pytest.approx(12 * 0.6)
    assert face.measure("twelve chars") == pytest.approx(12 * 0.6)


def test_characters_that_are_never_drawn_take_no_room_and_are_not_written():
    face = find_face(("sans-serif",), 400, False)
    assert face.measure("soft\u00adhyphen\u200b") == face.measure("softhyphen")
    assert face.encode("soft\u00adhyphen\u200b") == face.encode("softhyphen")
    assert face.find_missing("soft\u00adhyphen\u200b\ufeff") == ""


@pytest.mark.parametrize("family", ["sans-serif", "Noto Sans SC"])
def test_codes_are_characters_in_utf_16_whether_or_not_the_face_has_them(family):
    face = find_face((family,), 400, False)
    assert face.encode("a(b)\\") == b"(\0a\0\\(\0b\0\\)\0\\\\)"
    assert face.encode("é1€") == b"(\0\xe9\x001\x20\xac)"
    assert face.encode("\u010d") == b"(\x01\\r)"  # its low byte is a carriage return
    assert face.encode("\u1400\uf0b7\u4e00") == b"(\x14\0\xf0\xb7\x4e\0)"


@pytest.mark.parametrize(
    "family", [*GENERAL, "Noto Sans Arabic", "Noto Sans JP", "Noto Sans Symbols 2"]
)
def test_each_character_and_each_ligature_has_a_code_of_its_own(family):
    face = find_face((family,), 400, False)
    chars = [char for char in map(chr, range(0x20, 0xD800)) if face.covers(char)]
    chars += [char for char in map(chr, range(0xE000, 0x10000)) if face.covers(char)]
    assert len(set(map(write_codes, chars))) == len(chars)
    if face.ligatures is not None:
        assert set(map(write_codes, chars)).isdisjoint(map(write_codes, face.ligatures.glyphs))


def test_unencodable_characters_become_the_replacement_character():
    face = find_face(("sans-serif",), 400, False)
    assert face.encode("\U0001f600\ud800") == face.encode("\ufffd\ufffd")
    assert face.measure("\U0001f600") == face.measure("\ufffd")
    assert face.find_missing("a\U0001f600") == "\U0001f600"


def test_spaces_are_spread_even_where_other_codes_look_like_one():
    face = find_face(("sans-serif",), 400, False)
    assert face.encode_justified("a b", 250) == b"[(\0a\0 )-250(\0b)]"
    assert face.encode_justified("\u0120\u2000 c", 10) == b"[(\x01 \x20\0\0 )-10(\0c)]"


@pytest.mark.parametrize("family", ["sans-serif", "Noto Sans JP"])
def test_a_space_at_the_end_of_a_line_is_added_to_its_operand(family: str):
    face = find_face((family,), 400, False)
    for text in ("word", "AV", "1,250.00", "a)", "(a\\", "\u0120\u2014"):
        assert face.append_space(face.encode(text)) == face.encode(text + " ")
    justified = face.encode_justified("a b", 250)
    assert face.append_space(justified) == justified[:-2] + b"\0 )]"


def test_text_the_first_family_has_is_one_run():
    runs = split_by_face(("Noto Serif",), 400, False, "plain text, “quoted”")
    assert [(face.family, text) for face, text in runs] == [("Noto Serif", "plain text, “quoted”")]


def test_characters_fall_back_one_by_one():
    runs = split_by_face(("sans-serif",), 700, False, "a■b")
    assert [(face.name, text) for face, text in runs] == [
        ("NotoSans-Bold", "a"),
        ("JetBrainsMono-Bold", "■"),
        ("NotoSans-Bold", "b"),
    ]


@pytest.mark.parametrize(
    ("lang", "text", "families"),
    [
        ("ja", "第①章…—“引用”※★→", ["Noto Sans JP"]),
        ("zh", "中文“引号”……·③", ["Noto Sans SC"]),
        ("ko", "“인용”", ["Noto Sans KR"]),
        ("ja", "10×20 “mm”", ["Noto Sans"]),
        ("ja", "日本“USA”", ["Noto Sans JP", "Noto Sans", "Noto Sans JP"]),
    ],
)
def test_symbols_beside_east_asian_text_are_of_its_face(lang, text, families):
    runs = split_by_face(("Noto Sans",), 400, False, text, lang)
    assert [face.family for face, _ in runs] == families


def test_characters_missing_from_all_families_are_reported_and_use_the_first_face():
    assert find_missing("abc ᱛ■ ᱛ\u1c5a") == "ᱛᱚ"
    runs = split_by_face(("serif",), 400, False, "aᱛb")
    assert [(face.family, text) for face, text in runs] == [("Noto Serif", "aᱛb")]


def test_control_characters_count_as_missing():
    assert find_missing("a\x01b") == "\x01"


def test_pairs_are_kerned_and_written_as_wide_as_they_are_measured():
    face = find_face(("sans-serif",), 400, False)
    kern = face.kern("A", "V")
    assert kern < 0
    assert face.measure("AV") == pytest.approx(face.measure("A") + kern + face.measure("V"))
    assert face.encode("AV") == b"[(\0A)%d(\0V)]" % round(-kern * 1000)


def test_figures_stand_in_columns_and_are_not_kerned():
    for family in FAMILIES:
        face = find_face((family,), 400, False)
        width = face.measure("1")
        assert face.measure("7.47") == pytest.approx(3 * width + face.measure("."))
        assert face.kern("7", "A") == 0


@pytest.mark.parametrize(
    "text",
    [
        "1,234.50",
        "-9.99",
        "AV 2026",
        "To 7 March",
        "TX00412 (To)",
        "50\\2",
        "4 % of 9",
        "7",
        "\u22121,234.50",
        "€9.99",
        "9,99\u00a0€",
    ],
)
@pytest.mark.parametrize("family", ["sans-serif", "serif", "monospace"])
def test_texts_that_differ_in_digits_alone_are_as_wide_and_encoded_alike(family, text):
    face = find_face((family,), 400, False)
    others = [
        text.translate(str.maketrans("0123456789", figures)) for figures in ("3" * 10, "8" * 10)
    ]
    for other in (*others, text, *others):
        words = [face.measure(word) for word in other.split(" ")]
        spaces = (len(words) - 1) * face.measure(" ")
        assert face.measure(other) == pytest.approx(sum(words) + spaces)
        assert face.encode(other) in (
            face.encode_justified(other, 0).replace(b" )0(", b" "),
            face.encode_justified(other, 0).replace(b" )0(", b" ").strip(b"[]"),
        )


@pytest.mark.parametrize(
    "odd",
    [
        "",
        "AV",
        "To 1",
        "f(7)",
        "50\\2",
        "\t",
        "a\nb",
        "12.5 %",
        "\u22121.5",
        "\u00dcber 12",
        "To 12 " * 40,
    ],
)
@pytest.mark.parametrize("family", ["sans-serif", "serif", "monospace", "Noto Sans Arabic"])
def test_many_texts_are_measured_and_encoded_as_each_alone(family, odd):
    face = find_face((family,), 400, False)
    texts = ["Card", odd, "1,250.00", "", "To 7 March", odd, "9.99", "Card"]
    assert face.measure_all(texts) == [face.measure(text) for text in texts]
    assert face.encode_all(texts) == [face.encode(text) for text in texts]


@pytest.mark.parametrize("family", [*GENERAL, "Noto Sans Arabic", "Noto Sans JP"])
def test_what_a_face_draws_simply_is_one_run_without_shaping(family):
    face = find_face((family,), 400, False)
    simple = [char for char in map(chr, range(0x80, 0x3000)) if face.draws_simply(char)]
    assert [char for char in simple if needs_shaping(char) or has_right_to_left(char)] == []
    assert [
        char for char in simple if split_by_face((family,), 400, False, char)[0][0] is not face
    ] == []
    if family in GENERAL:
        assert face.draws_simply("\u22121,250.00 € – Größe")
    assert not face.draws_simply("soft\u00adhyphen")


def test_no_kerning_across_spaces_and_undrawn_characters():
    face = find_face(("sans-serif",), 400, False)
    apart = face.measure("A") + face.measure("V")
    assert face.measure("A V") == pytest.approx(apart + face.measure(" "))
    assert face.measure("A\u00adV") == pytest.approx(apart)


def test_a_bracket_in_the_text_is_no_kern():
    face = find_face(("monospace",), 400, False)
    assert face.encode(")-1(") == b"(\0\\)\0-\x001\0\\()"


@pytest.mark.parametrize("family", ["sans-serif", "serif", "monospace", "Liberation Sans"])
@pytest.mark.parametrize("weight", [400, 700])
@pytest.mark.parametrize("is_italic", [False, True])
def test_a_minus_sign_is_as_wide_as_a_plus_and_of_the_face_of_its_figures(
    family, weight, is_italic
):
    ((face, text),) = split_by_face((family,), weight, is_italic, "\u22125")
    assert text == "\u22125"
    assert face.measure("\u2212") == face.measure("+")


@pytest.mark.parametrize("family", [*GENERAL, "Liberation Sans"])
@pytest.mark.parametrize("weight", [400, 700])
@pytest.mark.parametrize("is_italic", [False, True])
def test_signs_of_mathematics_and_arrows_are_of_the_family_of_their_text(family, weight, is_italic):
    text = "a \u2264 b \u2265 c \u2260 \u2248 \u2211\u220f\u221a\u221e\u2202 \u2190\u2191\u2192\u2193\u2194 \xd7 \xb1 \u2212 \u2026"
    ((face, whole),) = split_by_face((family,), weight, is_italic, text)
    assert (face.family, whole) == (family, text)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("weight", [400, 700])
@pytest.mark.parametrize("is_italic", [False, True])
def test_every_family_draws_symbols_and_currency_signs(family, weight, is_italic):
    currencies = "".join(map(chr, (*range(0xA2, 0xA6), *range(0x20A0, 0x20C1), 0x0E3F, 0xFDFC)))
    signs = f"\u2610\u2611\u2713\u2605\u2192\u2212${currencies}"
    runs = split_by_face((family,), weight, is_italic, signs)
    assert "".join(text for _, text in runs) == signs
    assert all(face.covers(sign) for face, text in runs for sign in text)
