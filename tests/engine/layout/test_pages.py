"""Pages: running content grows and knows its page, the flow has what is left, and layout always ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pypdfium2
import pytest

from tests.engine.layout.builders import (
    GREY,
    always,
    at,
    changing,
    div,
    fills,
    laid,
    lines_of,
    master,
    p,
    percent,
    placed,
    points,
    running,
    texts,
)
from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.layout.display import GlyphRun, Restore, Save
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import RenderOptions
from workers.engine.tree.document import Watermark
from workers.engine.tree.nodes import Occurrence
from workers.engine.tree.styles.computed import BreakTo
from workers.engine.units import Length, mm


def page_of():
    return changing(lambda page: (p(f"{page.number}/{page.count}"),))


def test_header_and_footer_stand_at_the_margins_and_the_flow_between():
    given = master(
        200,
        200,
        margin=20.0,
        header=running(always((p("head"),)), margin=points(0, 0, 5, 0)),
        footer=running(always((p("foot"),)), tag="footer"),
    )
    page = laid(p("text"), masters=[given]).pages[0]
    assert placed(page) == [("head", 20, 20), ("foot", 20, 170), ("text", 20, 35)]


def test_running_content_has_no_owner_and_the_flow_has():
    given = master(header=running(always((p("head"),))))
    page = laid(p("text"), masters=[given]).pages[0]
    assert [item.owner is None for item in page.items if isinstance(item, GlyphRun)] == [
        True,
        False,
    ]


def test_every_page_knows_its_number_and_the_count():
    given = master(height=110, footer=running(page_of(), tag="footer"))
    document = laid(lines_of(25), masters=[given])
    assert [texts(page)[0] for page in document.pages] == ["1/3", "2/3", "3/3"]


def test_a_header_that_grows_takes_room_from_that_page_alone():
    header = running(changing(lambda page: (lines_of(3 if page.is_first else 1),)))
    document = laid(lines_of(16), masters=[master(header=header)])
    assert [len(texts(page)) for page in document.pages] == [3 + 7, 1 + 9]


def test_a_header_that_grows_on_a_page_like_others_takes_room_from_that_page_alone():
    header = running(changing(lambda page: (lines_of(4 if page.number == 3 else 1),)))
    document = laid(lines_of(50), masters=[master(header=header)])
    assert [len(texts(page)) for page in document.pages] == [10] * 2 + [4 + 6] + [10] * 2 + [1 + 8]


def test_a_header_that_differs_in_the_middle_shows_each_page_its_own_values():
    header = running(changing(lambda page: (p(f"{page.number} of {page.count}"),)))
    document = laid(lines_of(50), masters=[master(header=header)])
    assert [texts(page)[0] for page in document.pages] == [f"{n} of 6" for n in range(1, 7)]


def test_a_footer_that_depends_on_the_last_page_settles():
    footer = running(changing(lambda page: () if page.is_last else (p("continued"),)), tag="footer")
    document = laid(lines_of(19), masters=[master(footer=footer)])
    assert [texts(page)[0] for page in document.pages] == ["continued", "continued", "19"]
    assert [len(texts(page)) for page in document.pages] == [10, 10, 1]


def test_an_unstable_document_is_an_error_at_the_moving_element():
    # An odd number of pages makes the footer ask for one more, an even one for one less.
    footer = running(changing(lambda page: (lines_of(5 if page.count % 2 else 1),)), tag="footer")
    findings = Findings()
    with pytest.raises(AuthoringError) as raised:
        laid(lines_of(8), masters=[master(footer=footer)], findings=findings)
    (error,) = raised.value.diagnostics
    assert error.code == "not-settled"
    assert error.location is not None
    assert error.location.tag_name == "footer"


def test_a_header_above_its_greatest_height_is_an_error():
    findings = Findings()
    header = running(always((lines_of(3),)), most=percent(25))
    laid(p("a"), masters=[master(header=header)], findings=findings)
    (error,) = findings.errors
    assert error.message.startswith(
        "Text does not fit: `header` needs 10.6 mm, its max-height allows 8.8 mm (page 1)."
    )


@pytest.mark.parametrize("height", [10, 28, 50])  # of the text: 10
def test_a_label_may_be_as_low_as_its_content(height):
    pages = laid(p("a"), masters=[master(height=float(height))]).pages
    assert placed(pages[0]) == [("a", 0, 0)]


def test_the_header_of_a_label_leaves_half_of_it_to_the_text():
    findings = Findings()
    header = running(always((lines_of(2),)), most=Length(90.0))
    laid(p("a"), masters=[master(height=30, header=header)], findings=findings)
    (error,) = findings.errors
    assert "leave 3.5 mm for the text of the page, at least 5.3 mm are needed" in error.message


def test_an_open_page_is_as_high_as_its_content():
    header = running(always((p("head"),)))
    given = replace(master(50, 1000, margin=5.0, header=header), is_open=True)
    made = laid(lines_of(3), p("b", before=BreakTo.PAGE), masters=[given])
    assert [round(page.height) for page in made.pages] == [50, 30]
    assert [page.width for page in made.pages] == [50, 50]


def test_content_above_the_greatest_height_of_an_open_page_continues():
    given = replace(master(50, 100), is_open=True)
    made = laid(lines_of(23), masters=[given])
    assert [round(page.height) for page in made.pages] == [100, 100, 30]


def test_too_little_room_for_the_text_is_an_error_and_layout_continues():
    findings = Findings()
    header = running(always((lines_of(6),)), most=Length(90.0))
    document = laid(lines_of(8), masters=[master(header=header)], findings=findings)
    assert {error.code for error in findings.errors} == {"body-too-low"}
    assert "leave 14.1 mm" in findings.errors[0].message
    assert len(document.pages) == 2


def test_more_pages_than_the_flow_may_have_are_an_error_at_the_flow():
    findings = Findings()
    laid(lines_of(25), max_pages=2, findings=findings)
    (error,) = findings.errors
    assert (error.code, error.location) == ("max-pages", at("flow").location)
    assert "needs 3 pages, max-pages allows 2" in error.message


def test_more_pages_than_anyone_can_want_stop_layout():
    with pytest.raises(AuthoringError) as raised:
        laid(*[p("a", before=BreakTo.PAGE)] * 10_001, findings=Findings())
    assert raised.value.diagnostics[0].code == "too-many-pages"


def test_errors_are_reported_once_with_the_page_they_are_drawn_on():
    findings = Findings()
    box = div(lines_of(3), height=Length(20.0))
    laid(lines_of(9), box, box, findings=findings)
    assert [error.message.count("page 2") for error in findings.errors] == [1]


def test_a_line_taller_than_the_page_is_an_error_and_layout_ends():
    findings = Findings()
    document = laid(p("a", line_height=300.0), findings=findings)
    assert len(document.pages) == 1
    assert "taller-than-area" in {error.code for error in findings.errors}


def test_the_first_page_has_its_own_master():
    first, other = master(200, 200, on=Occurrence.FIRST), master()
    document = laid(lines_of(25), masters=[other, first])
    assert [page.width for page in document.pages] == [200, 100]


def test_an_empty_document_has_one_page():
    assert len(laid().pages) == 1


def test_a_watermark_lies_over_or_under_the_text_of_every_page():
    over = Watermark("COPY", is_over=True, opacity=0.2, rotate=45.0, size=20.0, color=GREY)
    under = Watermark("OLD", is_over=False, opacity=0.2, rotate=0.0, size=None, color=GREY)
    page = laid(p("text"), watermarks=[over, under]).pages[0]
    assert texts(page) == ["OLD", "text", "COPY"]
    assert page.items[0] == Save(rotate=(0, 50, 50), opacity=0.2)
    assert page.items[4] == Save(rotate=(-45, 50, 50), opacity=0.2)
    assert page.items[-1] == Restore()
    old = page.items[1]
    assert isinstance(old, GlyphRun)
    assert old.width == pytest.approx(70)


def test_the_colour_of_a_page_fills_it():
    page = laid(p("a"), masters=[replace(master(), background=GREY)]).pages[0]
    assert fills(page) == [(0, 0, 100, 100)]


@pytest.mark.parametrize("condition", ["", ' if="page.number == 1"', ' for="n in [1]"'])
@pytest.mark.parametrize("below", ["5mm", "{{ 5 }}mm"])
def test_a_header_has_its_margins_whatever_it_depends_on(condition, below):
    header = f'<header{condition} margin-bottom="{below}" margin-top="1mm"><p margin-top="3mm">a</p></header>'
    source = (
        f'<document><page size="A6" margin="0mm">{header}</page><flow><p>a</p></flow></document>'
    )
    options = RenderOptions(now=datetime(2026, 11, 29, tzinfo=UTC))
    made = render(prepare_template(source.encode()), None, options=options)
    text = pypdfium2.PdfDocument(made.pdf)[0].get_textpage()
    (_, head, _, _), (_, flow, _, _) = (text.get_charbox(at) for at in (0, text.count_chars() - 1))
    assert mm(148) - head == pytest.approx(mm(3) + 10.7, abs=0.1)  # its margin and that of its text
    assert head - flow == pytest.approx(mm(5) + 13.5, abs=0.1)  # are one, as in a box
