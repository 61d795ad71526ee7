"""Documents at the limits of the language: each ends in pages or in a finding."""

from __future__ import annotations

import re

import pytest

from tests.engine.layout.builders import of_kind
from tests.engine.layout.test_footnotes import document, numbers_in, pages_of
from tests.engine.layout.test_page_references import pdf_of, texts_of
from tests.golden.case import OPTIONS
from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.layout.display import GlyphRun
from workers.engine.pipeline import build_document, lay_out_document, prepare_template, validate
from workers.engine.ports import Resources
from workers.engine.units import mm

SMALL = '<style element="p" margin="0" font-size="4pt"/><style element="h1" margin="0" font-size="4pt"/>'
PAGE = '<page size="A4" margin="5mm"><footer><p>page{{ page.number }}.</p></footer></page>'


@pytest.mark.long
def test_contents_of_ten_thousand_entries_name_the_page_of_each():
    head = SMALL + '<style name="toc-1" font-size="4pt" margin="0"/>'
    flow = '<toc/><h1 for="n in range(1, 10001)">title{{ n }}.</h1>'
    pages = pages_of(flow, head=head, page=PAGE)
    own = [int(number) for page in pages for number in re.findall(r"page(\d+)\.", page)]
    assert own == list(range(1, len(pages) + 1))
    entries = {
        int(number): int(page)
        for text in pages
        for number, page in re.findall(r"title(\d+)\. [. ]*(\d+)\b", text)
    }
    assert len(entries) == 10_000
    for number in (1, 5_000, 10_000):
        assert f"title{number}." in pages[entries[number] - 1]


@pytest.mark.long
def test_an_index_of_a_hundred_thousand_marks_is_laid_out():
    marks = (
        '<p for="n in range(1000)"><group for="m in range(33)">'
        + '<mark term="t{{ (n * 7 + m) % 500 }}"/>' * 3
        + "</group>x</p>"
    )
    head = SMALL + '<style name="index-1" font-size="4pt" margin="0"/>'
    pages = pages_of(f'{marks}<p break-before="page">the index</p><index/>', head=head, page=PAGE)
    terms = set(re.findall(r"\bt(\d+)\b", " ".join(pages)))
    assert len(terms) == 500


def test_notes_that_push_their_call_away_take_turns_with_the_text():
    """A call in the last line of a page with a note of half a page: neither waits for the other."""
    note = f"<footnote>{'long ' * 150}</footnote>"
    flow = "".join(f"<p>call{n}: {'word ' * 30}{note}</p>" for n in range(1, 8))
    pages = pages_of(flow)
    assert [number for page in numbers_in(pages, r"call(\d+):") for number in page] == list(
        range(1, 8)
    )
    assert sum(page.count("long") for page in pages) == 7 * 150
    assert len(pages) <= 16


@pytest.mark.parametrize("height", ["0.1mm", "1mm", "20mm"])
def test_notes_in_an_area_without_room_for_them_come_to_an_end(height: str):
    page = f'<page size="A6" margin="9mm"><area height="{height}"/></page>'
    source = document(f"<p>call<footnote>{'note ' * 40}</footnote></p>", page=page)
    if height != "20mm":
        with pytest.raises(AuthoringError, match="taller-than-area"):
            pdf_of(source)
        return
    pages = texts_of(pdf_of(source))
    assert "call" in pages[0]
    assert sum(page.count("note") for page in pages) >= 40


def test_a_table_without_room_for_its_rows_is_an_error():
    rows = '<tr for="n in range(12)"><td>{{ n }}</td><td>row</td></tr>'
    with pytest.raises(AuthoringError, match="taller-than-area"):
        pdf_of(document(f'<table padding-bottom="5000mm" cell-padding="1mm">{rows}</table>'))


@pytest.mark.parametrize(("count", "code"), [(8, ""), (9, "link-depth"), (400, "link-depth")])
def test_templates_that_extend_each_other_deeply_are_an_error(count: int, code: str):
    texts = {
        f"t{n}@1": f'<document extends="t{n + 1}@1"><flow><p>{n}</p></flow></document>'.encode()
        for n in range(1, count)
    }
    texts[f"t{count}@1"] = b"<document><flow><p>last</p></flow></document>"
    template = b'<document extends="t1@1"><flow><p>own</p></flow></document>'
    found = validate(prepare_template(template, linked=texts), None, options=OPTIONS)
    assert [finding.code for finding in found if finding.severity == "error"] == (
        [code] if code else []
    )


def test_a_row_whose_columns_are_all_covered_from_above_needs_no_cell_of_its_own():
    rows = '<tr><td rowspan="2">a</td><td rowspan="2">b</td></tr><tr/><tr><td>c</td><td>d</td></tr>'
    assert pdf_of(document(f"<table>{rows}</table>"))


def test_a_cell_over_broken_rows_keeps_its_stated_height():
    cells = '<tr><td rowspan="2" height="30mm">a</td><td>b</td></tr><tr><td rowspan="2">c</td></tr>'
    tall = f"<tr><td>{'<p>d</p>' * 30}</td></tr>"
    template = prepare_template(
        '<document><page size="A6" margin="10mm"/>'
        f"<flow><table>{cells}{tall}</table></flow></document>".encode()
    )
    document, _ = build_document(template, None, options=OPTIONS, findings=Findings())
    pages = lay_out_document(document, resources=Resources(), findings=Findings()).pages
    tops = {run.text: run.y for run in reversed([*of_kind(pages[0], GlyphRun)])}
    assert len(pages) > 1
    assert tops["d"] - tops["b"] == pytest.approx(mm(30))
