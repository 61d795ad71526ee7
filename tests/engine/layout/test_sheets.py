"""Sheets of duplex documents, and marks for inserting machines read back from their pages."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO

import pikepdf
import pypdfium2
import pytest
import zxingcpp

from workers.engine.diagnostics import AuthoringError
from workers.engine.merged_pdf import MergedPart, read_marks, write_marks
from workers.engine.pipeline import prepare_template, render, validate
from workers.engine.ports import Payload, PayloadKind, Rendered, RenderOptions

OPTIONS = RenderOptions(datetime(2026, 11, 27, tzinfo=UTC))
DPI = 200
THREE_PAGES = (
    '<flow><p>one</p><p break-before="page">two</p><p break-before="page">three</p></flow>'
)
OMR = 'type="omr" left="6mm" top="20mm"'


def rendered(xml: str, options: RenderOptions = OPTIONS) -> Rendered:
    return render(None, Payload(PayloadKind.XML, xml.encode()), options=options)


def codes(xml: str) -> list[str]:
    return [warning.code for warning in rendered(xml).warnings]


def texts(pdf: bytes) -> list[str]:
    return [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(pdf)]


def omr_of(pdf: bytes, page: int) -> str:
    """Read the lines of a page at the middle of the marks: a digit a place."""
    image = pypdfium2.PdfDocument(pdf)[page].render(scale=DPI / 72, grayscale=True).to_pil()
    at = [(20.25 + 4 * line) / 25.4 * DPI for line in range(11)]
    return "".join(str(int(image.getpixel((round(10 / 25.4 * DPI), round(y))) < 128)) for y in at)


def codes_of(pdf: bytes, page: int) -> set[str]:
    image = pypdfium2.PdfDocument(pdf)[page].render(scale=300 / 72).to_pil()
    return {code.text for code in zxingcpp.read_barcodes(image)}


def test_a_duplex_document_ends_with_a_blank_back_that_does_not_count():
    header = "<header><p>{{ sheet.number }}/{{ sheet.count }} {{ sheet.is_front }}</p></header>"
    result = rendered(
        f'<document duplex="true"><page size="A6">{header}</page><watermark text="COPY"/>'
        f"{THREE_PAGES}</document>"
    )
    first, back, last, blank = texts(result.pdf)
    assert "1/2 true" in first
    assert "1/2 false" in back
    assert "2/2 true" in last
    assert blank == ""
    assert result.pages == 3


def test_a_simplex_document_has_a_sheet_a_page():
    header = "<header><p>{{ sheet.number }}/{{ sheet.count }} {{ sheet.is_front }}</p></header>"
    result = rendered(
        f'<document duplex="false"><page size="A6">{header}</page>{THREE_PAGES}</document>'
    )
    assert [text.split("\r")[0] for text in texts(result.pdf)] == [f"{n}/3 true" for n in (1, 2, 3)]


def test_data_called_sheet_stay_data_without_duplex():
    data = '<data><json>{"sheet": {"number": "A7"}}</json></data>'
    xml = f"<document>{data}<page><header><p>{{{{ sheet.number }}}}</p></header></page>{{}}</document>"
    flow = "<flow><p>{{ sheet.number }}</p></flow>"
    assert texts(rendered(xml.replace("{}", flow)).pdf)[0].count("A7") == 2
    with pytest.raises(AuthoringError, match="only in headers, footers and boxes"):
        rendered(xml.replace("<document>", '<document duplex="true">').replace("{}", flow))


@pytest.mark.parametrize("is_duplex", [None, True])
def test_documents_of_a_merged_file_begin_on_fronts_unless_a_plan_adds_the_backs(is_duplex):
    page = '<page size="A6" media="letterhead"/>'
    xml = f'<document duplex="true">{page}{THREE_PAGES}</document>'.encode()
    options = RenderOptions(OPTIONS.now, is_duplex=is_duplex)
    part = MergedPart(prepare_template(xml), options=options)
    added = [part.add(None, name=str(number)) for number in range(2)]
    pdf = part.close()
    assert pdf is not None
    backs = [""] if is_duplex is None else []
    media = ("letterhead",) * (3 + len(backs))
    assert [(one.pages, one.sheets, one.media) for one in added] == [(3, 2, media)] * 2
    assert [text[:3] for text in texts(pdf)] == ["one", "two", "thr", *backs] * 2


def test_optical_marks_are_on_fronts_alone_and_count_to_seven():
    pages = "".join(f'<p break-before="page">page {n}</p>' for n in range(18))
    pdf = rendered(
        f'<document duplex="true"><page size="A6 landscape" margin-left="30mm"><marks {OMR} sequence="6" '
        f'inserts="1 4"/></page><flow>{pages}</flow></document>'
    ).pdf
    read = [omr_of(pdf, page) for page in range(18)]
    assert read[1::2] == ["0" * 11] * 9
    assert [int(lines[6:3:-1], 2) for lines in read[::2]] == [6, 7, 1, 2, 3, 4, 5, 6, 7]
    assert [lines[2] for lines in read[::2]] == ["0"] * 8 + ["1"]
    assert {lines[:2] + lines[7:] for lines in read[::2]} == {"111001"}
    assert all(lines.count("1") % 2 == 0 for lines in read)


def test_marks_of_bar_codes_are_read_back_from_fronts():
    marks = (
        '<marks type="datamatrix" left="6mm" top="20mm" width="9mm" job="J7" set="42" inserts="2" '
        'format="{job}{set:06}{sheet:02}{count:02}{inserts}"/>'
        '<marks type="code128" left="40mm" top="5mm" width="40mm" set="43"/>'
        '<marks type="itf" left="90mm" top="5mm" width="40mm" set="44"/>'
    )
    pdf = rendered(
        f'<document duplex="true"><page size="A5" margin="20mm 15mm 15mm 30mm">{marks}</page>{THREE_PAGES}</document>'
    ).pdf
    assert codes_of(pdf, 0) == {"J7000042" + "0102" + "0100", "0000430102", "0000440102"}
    assert codes_of(pdf, 2) == {"J7000042" + "0202" + "0100", "0000430202", "0000440202"}
    assert codes_of(pdf, 1) == codes_of(pdf, 3) == set()


@pytest.mark.parametrize(
    ("marks", "content", "expected"),
    [
        (OMR, "", []),
        (OMR, '<box left="12mm" top="30mm" width="30mm"><p>near</p></box>', ["marks-zone"]),
        (OMR, '<box left="18mm" top="30mm" width="30mm"><p>beside</p></box>', []),
        (f'{OMR} clear="6mm"', '<box left="18mm" top="30mm" width="30mm"><p>x</p></box>', ["marks-zone"]),
        (f'{OMR} if="false"', '<box left="12mm" top="30mm" width="30mm"><p>near</p></box>', []),
        ('type="itf" left="6mm" top="9mm" width="40mm" set="1234567"', "", ["marks-wrap"]),
    ],
)  # fmt: skip
def test_ink_in_the_clear_zone_of_marks_and_wrapped_numbers_are_told(marks, content, expected):
    xml = f'<document><page size="A5" margin="30mm"><marks {marks}/></page><flow><p>text</p>{content}</flow></document>'
    assert codes(xml) == expected


def test_a_zone_reserved_for_marks_of_a_plan_is_checked_on_fronts():
    zone = (*(30.0, 80.0), 60.0, 60.0)
    options = RenderOptions(OPTIONS.now, is_duplex=True, reserved_zones=(zone,))
    xml = '<document><page size="A6" margin="10mm"/><flow>{}<p margin-top="30mm">text</p></flow></document>'
    assert [one.code for one in rendered(xml.format(""), options).warnings] == ["marks-zone"]
    moved = "<p>front</p><break/>"
    assert rendered(xml.format(moved), options).warnings == ()


@pytest.mark.parametrize(
    ("marks", "reported"),
    [
        ('type="itf" left="1mm" top="9mm" format="{set:06}{sheet:03}"', "an even number of digits"),
        ('type="itf" left="1mm" top="9mm" format="{page}"', "{job}, {set}, {sheet}"),
        ('type="omr" left="1mm" top="9mm" inserts="5"', "feeders from 1 to 4"),
        ('type="datamatrix" left="left" top="9mm"', "`left`"),
    ],
)
def test_wrong_marks_are_errors_that_name_what_is_accepted(marks, reported):
    source = f"<document><page><marks {marks}/></page><flow><p>x</p></flow></document>"
    with pytest.raises(AuthoringError) as raised:
        rendered(source)
    assert reported in str(raised.value)
    found = validate(prepare_template(source.encode()), None, options=OPTIONS)
    assert [each.text.partition(" (")[0] for each in found.errors] == [
        each.text.partition(" (")[0] for each in raised.value.diagnostics
    ]


@pytest.mark.parametrize(
    ("feeders", "expected"), [((), "11101101000"), ((3,), "11111101010"), ((1, 4), "11111101001")]
)
def test_marks_of_a_plan_are_written_onto_finished_pages(feeders, expected):
    marks = read_marks({"type": "omr", "left": "6mm", "top": "20mm", "inserts": "1"})
    with pikepdf.open(
        BytesIO(rendered('<document><page size="A6"/><flow><p/></flow></document>').pdf)
    ) as pdf:
        height = float(pdf.pages[0].mediabox[3])
        place = {"number": 5, "sequence": 9, "sheet": 2, "sheets": 2, "feeders": feeders}
        drawn = write_marks(marks, **place, page_height=height)
        pdf.pages[0].contents_add(pdf.make_stream(drawn))
        out = BytesIO()
        pdf.save(out)
    assert omr_of(out.getvalue(), 0) == expected


@pytest.mark.parametrize(
    ("plan", "reported"),
    [
        ({"type": "omr", "left": "6mm"}, 'marks need "top"'),
        ({"type": "omr", "left": "6mm", "top": "2em"}, "use mm, cm, in or pt"),
        ({"type": "qr", "left": "6mm", "top": "2mm"}, '"type" of marks is "qr"'),
        ({"kind": "omr"}, '"kind" is not a member of marks'),
    ],
)
def test_wrong_marks_of_a_plan_are_refused_by_member(plan, reported):
    with pytest.raises(ValueError, match=reported):
        read_marks(plan)
