"""Shaped text in the file: joined glyphs, codes, and what hostile text does to them."""

from __future__ import annotations

import io
import json
import time

import pikepdf
import pypdfium2
import pytest

from tests.engine.typefaces import find_face, split_by_face
from tests.golden.case import OPTIONS
from workers.engine.bidi import resolve_levels
from workers.engine.fonts import shape_word
from workers.engine.layout.lines.hyphenation import hyphenate
from workers.engine.merged_pdf import MergedPart
from workers.engine.paint import embedding as shaped
from workers.engine.paint.embedding import ShapedFont
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind, Resources


def rendered(content: str) -> bytes:
    template = prepare_template(f"<document><flow>{content}</flow></document>".encode())
    return render(template, None, options=OPTIONS, resources=Resources()).pdf


def fonts_of(pdf: bytes) -> list[pikepdf.Object]:
    with pikepdf.open(io.BytesIO(pdf)) as file:
        return [str(font.BaseFont) for font in file.pages[0].resources.Font.values()]


def ink(pdf: bytes) -> int:
    page = pypdfium2.PdfDocument(pdf)[0].render(scale=1, grayscale=True).to_pil()
    return sum((255 - shade) * count for shade, count in enumerate(page.histogram()))


def test_a_face_is_embedded_once_for_shaped_and_once_for_unshaped_text():
    names = fonts_of(rendered("<p>plain</p><p>e&#x301;</p><p>x&#x301; again</p>"))
    assert len(names) == 2
    assert {name.split("+")[1] for name in names} == {"NotoSans-Regular"}


def test_a_letter_with_its_mark_has_the_ink_of_both():
    with_mark, without = ink(rendered("<p>x&#x302;</p>")), ink(rendered("<p>x</p>"))
    assert with_mark > without


def test_equal_words_have_equal_codes_and_other_texts_others():
    face = find_face((), 400, False)
    font = ShapedFont(face, b"/X1")
    first = font.write(shape_word(face, "e\u0301a\u0301", is_rtl=False, lang="en").clusters)
    assert first == b"[<00010002>]TJ\n"
    assert (
        font.write(shape_word(face, "a\u0301", is_rtl=False, lang="en").clusters) == b"[<0002>]TJ\n"
    )
    assert font.write(shape_word(face, "á", is_rtl=False, lang="en").clusters) == b"[<0003>]TJ\n"


def test_an_evicted_cluster_cache_changes_no_document(monkeypatch):
    content = "<p lang='th'>น้ำใจน้ำที่นี่ที่น้ำ</p>"
    before = rendered(content)
    [(face, _)] = split_by_face((), 400, False, "น้ำ", "th")
    face.clear_caches()
    monkeypatch.setattr(shaped, "MAX_CACHED_CODES", 1)
    assert rendered(content) == before
    face.clear_caches()  # the small one too


def test_a_full_font_is_followed_by_another(monkeypatch):
    monkeypatch.setattr(shaped, "MAX_CODES", 3)
    pdf = rendered("".join(f"<p>{letter}&#x301;</p>" for letter in "abcdefgh"))
    assert len(fonts_of(pdf)) == 3


def test_more_clusters_than_a_font_has_glyphs_are_empty_boxes(monkeypatch):
    monkeypatch.setattr(shaped, "LAST_CODE", 2)
    assert rendered("<p>a&#x301;b&#x301;c&#x301;d&#x301;</p>").startswith(b"%PDF")


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "Z" + "\u0301\u0316" * 3000,
        "क" + "ा" * 3000,
        "क्" * 3000,
        "\u202e\u2067" * 3000 + "a",
        "א" + "$" * 20_000 + "1",
        "א" + "(a)" * 7000,
        "א" + "(" * 7000 + ")" * 7000,
        "ก" * 20_000,
        "漢" * 20_000,
        "\ufdfa" * 2000,
        "\u200d\u200c\ufe0f" * 3000,
    ],
    ids=lambda text: f"{text[:2].encode('unicode_escape').decode()}-{len(text)}",
)
def test_hostile_text_is_set_in_bounded_time(text):
    started = time.process_time()
    assert rendered(f'<p lang="he">{text}</p>').startswith(b"%PDF")
    assert time.process_time() - started < 8


def test_long_rows_of_signs_and_letters_take_time_in_proportion():
    started = time.process_time()
    resolve_levels("א1" + "$" * 200_000, is_rtl=True)
    hyphenate("a" * 200_000, "de")
    assert time.process_time() - started < 3


def test_merged_documents_extract_to_the_text_of_each():
    template = prepare_template(
        "<document lang='hi'><flow><p>संख्या {{ number }}</p><p>कुल राशि</p></flow></document>".encode()
    )
    part = MergedPart(template, options=OPTIONS)
    for number in ("एक", "दो", "तीन", "चार"):
        payload = Payload(PayloadKind.JSON, json.dumps({"number": number}).encode())
        part.add(payload, name=number)
    pages = pypdfium2.PdfDocument(part.close())
    said = [page.get_textpage().get_text_bounded().split("\r\n") for page in pages]
    assert said == [[f"संख्या {number}", "कुल राशि"] for number in ("एक", "दो", "तीन", "चार")]
