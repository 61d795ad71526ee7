"""References, contents and indexes on pages: what they show, where they lead, how often pages are made."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pikepdf
import pypdfium2
import pytest

from tests.golden.case import OPTIONS
from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.layout import passes as layout_pages
from workers.engine.pipeline import build_document, lay_out_document, prepare_template, render

BOOK = """
<document lang="en">
  <style element="h1" number="1"/>
  <page size="A6" margin="10mm"><footer><p>{{ page.number }}</p></footer></page>
  <flow>
    <toc/>
    <div counter-reset="page 5">
      <h1 id="one">One</h1><p>See <ref to="two" show="number"/>, <ref to="two"/>, page <ref to="two" show="page"/>.</p>
    </div>
    <h1 id="two" break-before="page">Two <i>words</i></h1><p>Ends<mark term="End"/></p>
    <p break-before="page">Ends<mark term="End"/></p>
    <index break-before="page"/>
  </flow>
</document>
"""


def pdf_of(source: str) -> bytes:
    return render(prepare_template(source.encode()), None, options=OPTIONS).pdf


def texts_of(pdf: bytes) -> list[str]:
    document = pypdfium2.PdfDocument(pdf)
    return [" ".join(page.get_textpage().get_text_bounded().split()) for page in document]


def targets_of(pdf: bytes) -> Iterator[tuple[int, int]]:
    with pikepdf.open(io.BytesIO(pdf)) as document:
        numbers = {page.objgen: number for number, page in enumerate(document.pages)}
        for number, page in enumerate(document.pages):
            for link in page.get("/Annots", ()):
                yield number, numbers[link.Dest[0].objgen]


def test_pages_show_numbers_texts_and_pages_as_printed():
    contents, first, second, third, index = texts_of(pdf_of(BOOK))
    assert contents == "1 1 One 5 2 Two words 6"
    assert first == "5 1 One See 2, Two words, page 6."
    assert second == "6 2 Two words Ends"
    assert third == "7 Ends"
    assert index == "8 End, 6–7"


def test_links_target_the_shown_element():
    assert sorted(targets_of(pdf_of(BOOK))) == [(0, 1), (0, 2), (1, 2), (1, 2), (1, 2), (4, 2)]


def test_an_id_in_a_paragraph_is_in_its_line():
    words = "word " * 400
    text = f'<p><a href="#end">go</a>, page <ref to="end" show="page"/></p><p id="all">{words}<b id="end">End</b></p>'
    empty = '<div><span id="empty"></span></div><p>next</p><p><a href="#empty">back</a></p>'
    page = '<page size="A6" margin="10mm"/>'
    pdf = pdf_of(f'<document lang="en">{page}<flow>{text}{empty}</flow></document>')
    assert texts_of(pdf)[0].startswith("go, page 2 word")
    assert sorted(targets_of(pdf)) == [(0, 1), (0, 1), (1, 1)]


def test_a_reference_shows_the_whole_text_of_an_element_in_a_line():
    target = '<p id="p">Target</p>'
    written = '<p>one <br/><b id="after">two</b> <b id="with">and <ref to="p"/></b></p>'
    shown = '<p>«<ref to="after"/>» «<ref to="with"/>»</p>'
    pdf = pdf_of(f'<document lang="en"><flow>{target}{written}{shown}</flow></document>')
    assert texts_of(pdf) == ["Target one two and Target «two» «and Target»"]


def test_an_empty_element_with_an_id_takes_no_line():
    def height(inside: str) -> float:
        flow = f"<flow><div>{inside}</div><p>next</p></flow>"
        document = pypdfium2.PdfDocument(pdf_of(f'<document lang="en">{flow}</document>'))
        return document[0].get_textpage().get_charbox(0)[1]

    assert height('<span id="a"></span>') == height("")


def test_the_outline_has_the_numbers():
    with pikepdf.open(io.BytesIO(pdf_of(BOOK))) as document, document.open_outline() as outline:
        assert [item.title for item in outline.root] == ["1 One", "2 Two words"]


def test_the_same_document_gives_the_same_bytes():
    assert pdf_of(BOOK) == pdf_of(BOOK)


@pytest.mark.parametrize(
    ("body", "passes"),
    [
        ("<h1>a</h1><p>b</p>", 1),
        ("<toc/><h1>a</h1><p>b</p>", 1),
        ('<h1 id="a">a</h1><p><ref to="a" show="number"/> <ref to="a"/></p>', 1),
        ('<h1 id="a">a</h1><p><ref to="a" show="page"/></p>', 2),
        ('<p>a<mark term="b"/></p><index/>', 2),
    ],
)
def test_only_a_document_that_shows_pages_in_its_text_is_poured_again(
    monkeypatch: pytest.MonkeyPatch, body: str, passes: int
):
    poured: list[int] = []
    real = layout_pages.fill_pages

    def pour(*given):
        poured.append(1)
        return real(*given)

    monkeypatch.setattr(layout_pages, "fill_pages", pour)
    pdf_of(f'<document><style element="h1" number="1"/><flow>{body}</flow></document>')
    assert len(poured) == passes


def test_the_second_pass_breaks_only_the_lines_that_change(monkeypatch: pytest.MonkeyPatch):
    body = "<p>same</p><p id='a'>page <ref to='a' show='page'/></p><p>also</p>"
    assert lines_broken(monkeypatch, body) == ["same", "page 99", "also", "page 1"]


def lines_broken(monkeypatch: pytest.MonkeyPatch, body: str) -> list[str]:
    """Return the text of each paragraph of a document as often as its lines are broken."""
    from workers.engine.layout.elements import text

    broken: list[str] = []
    real = text.break_lines

    def break_lines(context, inlines, **given):
        broken.append("".join(getattr(inline, "text", "") for inline in inlines))
        return real(context, inlines, **given)

    monkeypatch.setattr(text, "break_lines", break_lines)
    pdf_of(f"<document><flow>{body}</flow></document>")
    return broken


def test_references_back_and_an_index_show_the_pages_of_the_same_pass(
    monkeypatch: pytest.MonkeyPatch,
):
    body = (
        '<p id="a">a<mark term="b"/></p>'
        '<p break-before="page"><ref to="a" show="page"/></p><index break-before="page"/>'
    )
    assert lines_broken(monkeypatch, body) == ["a", "1", "b, 1"]


def test_an_area_whose_lines_keep_their_room_is_taken_from_the_pass_before(
    monkeypatch: pytest.MonkeyPatch,
):
    from workers.engine.layout.pages import pagination

    filled: list[int] = []
    real = pagination.lay_out_stack

    def lay_out_stack(*given):
        filled.append(1)
        return real(*given)

    monkeypatch.setattr(pagination, "lay_out_stack", lay_out_stack)
    body = (
        '<toc/><p>page <ref to="a" show="page"/><mark term="b"/></p>'
        '<h1 break-before="page" id="a">there</h1><index break-before="page"/>'
    )
    pages = texts_of(pdf_of(f"<document><flow>{body}</flow></document>"))
    assert pages == ["there 2 page 2", "there", "b, 1"]
    assert len(filled) == len(pages)


def test_an_index_before_its_marks_is_filled_again_with_their_pages():
    body = '<index/><p break-before="page">a<mark term="b"/></p>'
    assert texts_of(pdf_of(f"<document><flow>{body}</flow></document>")) == ["b, 2", "a"]


@pytest.mark.parametrize("notes", ["", "<footnote>n</footnote>"])
def test_an_area_whose_lines_become_fewer_is_filled_again(notes: str):
    row = "<ref to='b' show='page'/>, " * 24
    body = (
        f'<p margin="0">{notes}{row}</p><p margin="0" id="a">after</p><p margin="0">more</p>'
        '<p margin="0" break-before="page" id="b">there</p>'
    )
    size = '<page size="60mm 50mm" margin="5mm"/>'
    pages = texts_of(pdf_of(f"<document>{size}<flow>{body}</flow></document>"))
    assert [page.count("2, ") + page.count("3, ") for page in pages] == [24, 0]
    assert "after more" in pages[0]


@pytest.mark.parametrize("columns", ["", '<col width="40mm"/>'])
def test_cells_show_the_pages_of_the_last_pass(columns: str):
    rows = '<tr><td>see <ref to="a" show="page"/></td></tr>' * 60
    body = f'<table>{columns}{rows}</table><p id="a">end</p>'
    size = '<page size="A6" margin="10mm"/>'
    pages = texts_of(pdf_of(f"<document>{size}<flow>{body}</flow></document>"))
    assert " ".join(pages).count(f"see {len(pages)}") == 60


def test_an_unstable_layout_names_the_moving_element():
    source = prepare_template(
        (
            '<document><page size="60mm 40mm" margin="5mm"/><flow>'
            '<p margin="0" height="20mm" counter-reset="page 9">Before</p>'
            f'<p margin="0" id="moves">{"ab " * 29}i <ref to="moves" show="page"/></p></flow></document>'
        ).encode()
    )
    with pytest.raises(AuthoringError) as raised:
        render(source, None, options=OPTIONS)
    (error,) = raised.value.diagnostics
    assert error.code == "not-settled"
    assert '"moves"' in error.message
    assert error.location is not None
    assert error.location.tag_name == "ref"


def test_the_page_of_a_cut_off_element_is_an_error():
    body = (
        '<div height="10mm" overflow="hidden"><p>a</p><div height="20mm"/><p id="b">b</p></div>'
        '<img id="c" src="none" optional="true" alt=""/><p><ref to="c" show="page"/></p>'
    )
    with pytest.raises(AuthoringError) as raised:
        pdf_of(f"<document><flow>{body}</flow></document>")
    assert [each.code for each in raised.value.diagnostics] == ["no-page"]


def test_contents_of_a_thousand_pages_keep_room_for_their_numbers():
    body = '<toc/><div counter-reset="page 999"><h1>a</h1></div><h1 break-before="page">b</h1>'
    assert texts_of(pdf_of(f"<document><flow>{body}</flow></document>"))[0] == "a 999 b 1000"


def test_the_entries_of_contents_stand_beside_their_numbers():
    findings = Findings()
    template = prepare_template(
        b'<document><style element="h1" number="1"/><flow><toc/>'
        b"<h1 for='n in range(12)'>Title</h1></flow></document>"
    )
    document, _ = build_document(template, None, options=OPTIONS, findings=findings)
    laid_out = lay_out_document(document, resources=None, findings=findings)
    (page,) = laid_out.pages
    titles = [item.x for item in page.items if getattr(item, "text", "") == "Title"][:12]
    assert len(set(titles)) == 1


def test_contents_begin_on_the_page_that_has_room_for_a_few_entries():
    flow = "".join(f"<figure><p>Chart</p><caption>Figure {n}</caption></figure>" for n in range(40))
    source = (
        '<document lang="en"><style name="figure-caption" number="none"/><page size="A6" margin="10mm"/>'
        f'<flow><p margin-top="80mm">Figures</p><toc of="figure"/><break/>{flow}</flow></document>'
    )
    first, second, *_ = texts_of(pdf_of(source))
    assert "Figures Figure 0" in first
    assert second.startswith("Figure ")


@pytest.mark.parametrize("top", [50, 53, 56, 59, 62])
def test_an_entry_of_contents_is_kept_with_the_entries_below_it(top: int):
    flow = "".join(f"<h1>Chapter {n}</h1><h2>Section {n}</h2>" for n in range(9))
    source = (
        '<document lang="en"><page size="A6" margin="10mm"/>'
        f'<flow><toc leader="none" margin-top="{top}mm"/><break/>{flow}</flow></document>'
    )
    assert texts_of(pdf_of(source))[1].startswith("Chapter ")


@pytest.mark.parametrize("width", [42, 44, 46, 48])
def test_the_pages_of_a_range_stand_on_one_line_of_the_index(width: int):
    flow = "".join(
        f'<p break-before="page"><mark term="Chuck"/>{n}</p>' if n % 4 else "<break/><p>Nothing</p>"
        for n in range(1, 60)
    )
    source = (
        '<document lang="en"><page size="A6" margin="10mm"/>'
        f'<flow>{flow}<div page="narrow"><index/></div></flow>'
        f'<page name="narrow" size="{width}mm 120mm" margin="10mm"/></document>'
    )
    document = pypdfium2.PdfDocument(pdf_of(source))
    lines = document[len(document) - 1].get_textpage().get_text_bounded().splitlines()
    assert len(lines) > 5
    assert not any(line.strip().endswith("–") for line in lines)
