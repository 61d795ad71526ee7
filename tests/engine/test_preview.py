"""A page for an editor: its picture, its findings, its boxes; whatever the template asks for."""

from __future__ import annotations

import gc
import io
from datetime import UTC, datetime

import pikepdf
import pypdfium2
import pytest
from PIL import Image

from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind, RenderOptions
from workers.engine.preview import MAX_BOXES, PageFormat, PreviewOptions, preview

OPTIONS = RenderOptions(now=datetime(2026, 11, 21, tzinfo=UTC))
LETTER = """<document version="1">
  <page size="100mm 60mm" margin="10mm">
    <footer><p>Page {{ page.number }}</p></footer>
  </page>
  <flow>
    <h1>Title</h1>
    <p>Dear {{ name }},</p>
    <table>
      <tr for="l in lines">
        <td>{{ l }}</td>
      </tr>
    </table>
  </flow>
</document>"""
DATA = b'{"name": "Ada", "lines": ["one", "two"]}'


def show(text, data=DATA, *, page=1, scale=1.0, kind=PageFormat.PNG, flow=None, given=None):
    payload = None if data is None else Payload(given or PayloadKind.JSON, data, flow=flow)
    return preview(
        prepare_template(text.encode()),
        payload,
        options=OPTIONS,
        preview_options=PreviewOptions(page, scale, kind),
    )


def document(body, *, page='<page size="100mm 60mm" margin="5mm"/>', head=""):
    return f'<document version="1">{head}{page}<flow>{body}</flow></document>'


def picture(shown):
    return Image.open(io.BytesIO(shown.page.data)).convert("RGB")


def codes(findings):
    return [finding.code for finding in findings]


def boxes_of(shown, tag):
    return [box for box in shown.page.boxes if box["source"]["tagName"] == tag]


@pytest.mark.parametrize("kind", [PageFormat.PNG, PageFormat.WEBP])
def test_a_page_is_the_picture_that_its_render_gives(kind):
    shown = show(LETTER, scale=2.0, kind=kind)
    pdf = render(
        prepare_template(LETTER.encode()), Payload(PayloadKind.JSON, DATA), options=OPTIONS
    ).pdf
    expected = pypdfium2.PdfDocument(pdf)[0].render(scale=2.0).to_pil().convert("RGB")
    assert picture(shown).tobytes() == expected.tobytes()
    assert (shown.page.raster.width, shown.page.raster.height) == expected.size
    assert Image.open(io.BytesIO(shown.page.data)).format == kind.value.upper()
    assert (shown.pages, shown.page.page) == (1, 1)
    assert (shown.page.width, shown.page.height) == (283.465, 170.079)
    assert list(shown.findings) == []


def test_the_same_call_gives_the_same_bytes():
    assert show(LETTER).page == show(LETTER).page


def test_boxes_say_where_elements_stand_and_where_they_are_written():
    shown = show(LETTER)
    [title] = boxes_of(shown, "h1")
    assert title["source"]["lineStart"] == 6
    assert (title["x"], title["y"], title["width"]) == (28.35, 28.35, 226.77)
    foot, dear = boxes_of(shown, "p")
    assert dear["source"] == {
        "tagName": "p",
        "origin": "template",
        "lineStart": 7,
        "lineEnd": 7,
        "columnStart": 5,
        "columnEnd": 28,
    }
    cells = boxes_of(shown, "td")
    assert [cell["loop"] for cell in cells] == [
        [{"name": "lines", "row": 1}],
        [{"name": "lines", "row": 2}],
    ]
    assert cells[0]["y"] + cells[0]["height"] == pytest.approx(cells[1]["y"], abs=0.02)
    assert foot["source"]["lineStart"] == 3
    assert foot["y"] > 120


def test_boxes_count_from_the_corner_of_the_sheet_that_is_drawn():
    page = '<page size="100mm 60mm" margin="5mm" bleed="3mm" marks="crop"/>'
    shown = show(document('<p background="#ff0000" height="10mm">a</p>', page=page), None)
    [box] = boxes_of(shown, "p")
    drawn = picture(shown)
    x, y = round(box["x"] + box["width"] / 2), round(box["y"] + box["height"] / 2)
    assert drawn.getpixel((x, y)) == (255, 0, 0)
    assert drawn.getpixel((x, round(box["y"]) - 3)) == (255, 255, 255)
    assert drawn.size == (shown.page.raster.width, shown.page.raster.height)
    assert shown.page.width > 283.465


def test_a_later_page_than_the_last_gives_the_last():
    text = document("<p>a</p><break/><p>b</p><break/><p>c</p>")
    assert [(show(text, None, page=n).page.page) for n in (1, 2, 3, 4, 1_000_000)] == [
        1,
        2,
        3,
        3,
        3,
    ]
    assert show(text, None, page=2).pages == 3
    assert (
        boxes_of(show(text, None, page=2), "p")[0]["source"]["columnStart"]
        == text.index("<p>b") + 1
    )


def test_a_document_with_errors_has_findings_and_no_page():
    shown = show(document("<p colour='red'>{{ nam | nope }}</p><q/>"))
    assert (shown.pages, shown.page) == (0, None)
    assert {"unknown-attribute", "unknown-element"} <= set(codes(shown.findings.errors))
    assert all(finding.location is not None for finding in shown.findings.errors)


@pytest.mark.parametrize(
    "text", ["", "<", "<document", "<p/>", "<!DOCTYPE a><document/>", "\0<a/>"]
)
def test_text_that_is_not_a_document_has_a_finding(text):
    shown = show(text)
    assert shown.page is None
    assert shown.findings.errors


def test_data_with_errors_have_findings_at_their_place():
    shown = show(LETTER, b'{"name": ')
    assert shown.page is None
    [finding] = shown.findings.errors
    assert finding.code == "json"
    assert show(LETTER, b"\xff").page is None


def test_overflowing_content_is_reported_and_drawn():
    shown = show(document('<div height="5mm"><p>a<br/>b<br/>c</p></div><p>after</p>'), None)
    assert codes(shown.findings.errors) == ["content-overflow"] or shown.findings.errors
    assert shown.page is not None
    assert boxes_of(shown, "p")


def test_warnings_of_a_validation_are_reported_too():
    head = '<style name="idle" color="#ff0000"/>'
    shown = show(document("<p>{{ absent }}</p>", head=head))
    assert {"unused-style"} <= set(codes(shown.findings.warnings))


def test_boxes_of_a_part_are_those_of_its_own_lines():
    part = '<part name="line">\n<p>x</p>\n</part>'
    shown = show(document('<use part="line"/><use part="line"/>', head=part), None)
    assert not list(shown.findings), codes(shown.findings)
    assert [box["source"]["lineStart"] for box in boxes_of(shown, "p")] == [2, 2]


def test_csv_and_markdown_are_data_of_a_preview():
    shown = show(document("<p>a</p>"), b"# Hi", given=PayloadKind.MARKDOWN, flow="body")
    assert [box["source"]["origin"] for box in boxes_of(shown, "h1")] == ["payload"]
    shown = show(document("<p>a</p>"), b"# Hi", given=PayloadKind.MARKDOWN, flow="other")
    assert codes(shown.findings.errors) == ["unknown-flow"]


def test_a_pdf_is_that_page_alone_and_marked_as_a_draft():
    text = document("<p>one</p><break/><p>two</p>")
    shown = show(text, None, page=2, kind=PageFormat.PDF)
    assert shown.page.raster is None
    with pikepdf.open(io.BytesIO(shown.page.data)) as pdf:
        assert len(pdf.pages) == 1
        assert "/FormXob.PressroomDraft" in pdf.pages[0].Resources.XObject
    found = pypdfium2.PdfDocument(shown.page.data)[0].get_textpage().get_text_range()
    assert found.strip() == "two"


def test_links_to_other_pages_leave_a_page_that_opens():
    text = document('<p><a href="#there">go</a></p><break/><h1 id="there">There</h1>')
    for page in (1, 2):
        shown = show(text, None, page=page, kind=PageFormat.PDF)
        with pikepdf.open(io.BytesIO(shown.page.data)) as pdf:
            assert len(pdf.pages) == 1


def test_nothing_is_encrypted_or_attached_and_invalid_passwords_are_reported():
    head = '<security user-password="secret"/><attachment name="a.txt" type="text/plain">x</attachment>'
    shown = show(document("<p>a</p>", head=head), None, kind=PageFormat.PDF)
    with pikepdf.open(io.BytesIO(shown.page.data)) as pdf:
        assert not pdf.is_encrypted
        assert not pdf.attachments
    assert not shown.findings.errors
    wrong = '<data><json>{"k": "\\ufffe"}</json></data><security user-password="{{ k }}"/>'
    assert show(document("<p>a</p>", head=wrong), None).findings.errors


def test_a_large_page_is_drawn_at_a_lower_scale():
    page = '<page size="5000mm 5000mm" margin="5mm"/>'
    shown = show(document("<p>a</p>", page=page), None, scale=8.0)
    raster = shown.page.raster
    assert raster.width * raster.height <= 16_000_000
    assert raster.scale == pytest.approx(raster.width / shown.page.width, abs=1e-3)


@pytest.mark.long
def test_boxes_are_bounded():
    cell = "<td>a</td>" * 60
    row = f"<tr>{cell}</tr>"
    page = '<page size="2000mm 2000mm" margin="5mm"/>'
    shown = show(document(f"<table>{row * 100}</table>", page=page), None, scale=0.1)
    assert len(shown.page.boxes) == MAX_BOXES
    assert shown.page.boxes_left_out > 900


def test_a_too_deeply_nested_document_is_reported():
    nested = "<div>" * 300 + "<p>a</p>" + "</div>" * 300
    shown = show(document(nested), None)
    assert shown.page is None
    assert shown.findings.errors


def test_the_collector_runs_again_afterwards():
    show(LETTER)
    show("<")
    assert gc.isenabled()


def test_elements_drawn_as_paths_have_boxes():
    points = '{"rows": [{"x": "a", "y": 1}, {"x": "b", "y": 3}]}'
    chart = '<chart type="line" data="row in rows" x="row.x" y="row.y" height="30mm" alt="Line"/>'
    shown = show(document(chart, head=f"<data><json>{points}</json></data>"), data=None)
    assert codes(shown.findings) == []
    [box] = boxes_of(shown, "chart")
    assert box["height"] > 50
