"""Fonts of further scripts: found where they are installed, reported where they are not."""

from __future__ import annotations

import io
import re
import subprocess
import sys

import pikepdf
import pypdfium2
import pytest

from tests.engine.typefaces import find_missing, split_by_face
from tests.golden.case import FOLDER, OPTIONS
from workers.engine.fonts import EXTRA_FAMILIES, shape_word
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Resources

SAMPLES = re.findall(
    r'<p lang="(\w+)"[^>]*>(.*)</p>', (FOLDER / "cases" / "scripts-further.xml").read_text()
)
WITHOUT = """
import sys
sys.modules["pressroom_fonts"] = None  # as if it were not installed
from deploy.cli.main import main
main(["render", *sys.argv[1:]])
"""


@pytest.mark.parametrize(("lang", "marked"), SAMPLES, ids=[lang for lang, _ in SAMPLES])
@pytest.mark.parametrize("weight", [400, 700])
def test_a_text_of_each_further_script_has_its_family(lang: str, marked: str, weight: int):
    text = re.sub("<[^>]*>|[0-9a-zA-Z，。]", "", marked)
    assert find_missing(text) == ""
    faces = {
        face for face, part in split_by_face((), weight, False, text, lang) if part.strip(" ,.،")
    }
    assert len({face.family for face in faces} & set(EXTRA_FAMILIES)) == 1
    assert {face.is_bold for face in faces} == {weight == 700}


def test_there_is_a_sample_of_each_family():
    families = {
        face.family
        for lang, marked in SAMPLES
        for face, _ in split_by_face((), 400, False, re.sub("<[^>]*>", "", marked), lang)
    }
    assert set(EXTRA_FAMILIES) - {"Noto Emoji"} <= families


@pytest.mark.parametrize(
    ("lang", "marked"),
    [s for s in SAMPLES if s[0] not in ("dv", "syr")],
    ids=lambda value: value[:3],
)
def test_copied_text_equals_the_written_text(lang: str, marked: str):
    text = re.sub("<[^>]*>", "", marked)
    source = (
        f'<document><page size="900mm 60mm"/><flow><p lang="{lang}">{text}</p></flow></document>'
    )
    result = render(prepare_template(source.encode()), None, options=OPTIONS, resources=Resources())
    page = pypdfium2.PdfDocument(result.pdf)[0]
    copied = page.get_textpage().get_text_range()
    assert copied.split() == text.split()


@pytest.mark.long
def test_without_the_package_a_missing_character_names_it(tmp_path):
    document = tmp_path / "khmer.xml"
    document.write_text("<document><flow><p>កម្ពុជា</p></flow></document>")
    out = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(document), "-o", str(tmp_path / "out.pdf")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "[missing-glyph]" in out.stderr
    assert "Fonts of more scripts come with the package pressroom-fonts" in out.stderr


def fonts_in(pdf: bytes) -> list[str]:
    with pikepdf.open(io.BytesIO(pdf)) as file:
        return [str(font.BaseFont) for font in file.pages[0].resources.Font.values()]


def render_without_the_package(document, pdf):
    """Render a document in a process that has no further fonts."""
    out = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(document), "-o", str(pdf)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert out.returncode == 0, out.stderr


@pytest.mark.long
def test_without_the_package_its_families_are_passed_over(tmp_path):
    document = tmp_path / "named.xml"
    text = "<p font-family='Noto Sans Khmer, Noto Serif'>Latin</p>"
    document.write_text(f"<document><flow>{text}</flow></document>")
    pdf = tmp_path / "out.pdf"
    render_without_the_package(document, pdf)
    assert [name[8:] for name in fonts_in(pdf.read_bytes())] == ["NotoSerif-Regular"]


EMOJI = ["👩‍👩‍👧", "🇩🇪", "👍🏽", "1️⃣", "❤️‍🔥", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👨🏿‍💻", "😀", "☎️", "🏳️‍🌈", "✅"]


@pytest.mark.parametrize("emoji", EMOJI)
@pytest.mark.parametrize("weight", [400, 700])
def test_a_sequence_of_emoji_is_one_cluster(emoji: str, weight: int):
    [(before, _), (face, sequence), (after, _)] = split_by_face(
        ("Noto Serif",), weight, False, f"to {emoji} fro"
    )
    assert before is after, "the spaces beside it are of the text's font"
    assert (face.family, sequence, face.is_emboldened) == ("Noto Emoji", emoji, False)
    [cluster] = shape_word(face, sequence, is_rtl=False, lang="en").clusters
    assert cluster.text == emoji


def test_emoji_beside_each_other_are_copied_and_found():
    text = " ".join(EMOJI)
    source = f'<document><page size="900mm 60mm"/><flow><p>{text}</p></flow></document>'
    result = render(prepare_template(source.encode()), None, options=OPTIONS, resources=Resources())
    assert not result.warnings
    copied = pypdfium2.PdfDocument(result.pdf)[0].get_textpage().get_text_range()
    assert copied.split() == EMOJI


def test_a_sequence_that_no_font_has_is_drawn_as_its_parts():
    faces = split_by_face((), 400, False, "👍\u200d🎵")
    assert [face.family for face, _ in faces] == ["Noto Emoji"]
    shaped = shape_word(faces[0][0], "👍\u200d🎵", is_rtl=False, lang="en")
    assert shaped.width > 2
    assert "".join(cluster.text for cluster in shaped.clusters) == "👍\u200d🎵"


@pytest.mark.parametrize(
    ("lang", "text"), [("ja", "請求書"), ("zh-Hans", "发票"), ("zh-Hant", "發票"), ("ko", "청구서")]
)
def test_bold_chinese_japanese_and_korean_are_drawn_by_a_bold_font(lang: str, text: str):
    [(bold, _)] = split_by_face((), 700, False, text, lang)
    [(regular, _)] = split_by_face((), 400, False, text, lang)
    assert bold.is_bold
    assert not bold.is_emboldened
    assert regular.family == bold.family
    assert bold.find_missing("".join(regular.glyphs)) == ""


@pytest.mark.long
def test_without_the_package_bold_ideographs_have_stronger_outlines(tmp_path):
    document = tmp_path / "bold.xml"
    document.write_text('<document lang="ja"><flow><p><b>請求書</b></p></flow></document>')
    pdf = tmp_path / "out.pdf"
    render_without_the_package(document, pdf)
    with pikepdf.open(pdf) as file:
        content = file.pages[0].Contents.read_bytes()
    assert b"2 Tr" in content
