"""Page masters: inheritance in a family, areas and boxes."""

from __future__ import annotations

import pytest

from tests.engine.tree.documents import build_source, problems
from workers.engine.tree.document import Document, PageMaster
from workers.engine.tree.nodes import Container, Occurrence
from workers.engine.tree.page_values import PageValues
from workers.engine.tree.styles.computed import Overflow
from workers.engine.units import Length, LengthKind, mm

FIRST = PageValues(number=1, count=3, index=1, total=3, name="default")


def document(pages: str, flow: str = "<p>a</p>") -> Document:
    return build_source(f"<document>{pages}<flow>{flow}</flow></document>")


def members(pages: str) -> dict[tuple[str, Occurrence], PageMaster]:
    return {(master.name, master.on): master for master in document(pages).masters}


def test_a_document_without_pages_has_the_default_one():
    (master,) = document("").masters
    assert (master.name, master.on, master.source) == ("default", Occurrence.ALL, None)
    assert master.margin == (mm(20),) * 4


def test_every_family_has_a_member_for_all_pages():
    found = members("<page name='wide' on='first' margin='5mm'/>")
    assert set(found) == {
        ("default", Occurrence.ALL),
        ("wide", Occurrence.ALL),
        ("wide", Occurrence.FIRST),
    }
    assert found["wide", Occurrence.ALL].margin.top == mm(20)


def test_a_member_takes_over_attributes_header_and_footer():
    found = members(
        "<page size='A6' margin='5mm' background='red'><header><p>h</p></header></page>"
        "<page on='last' margin-top='9mm'><footer><p>f</p></footer></page>"
    )
    last, every = found["default", Occurrence.LAST], found["default", Occurrence.ALL]
    assert (last.width, last.background) == (every.width, every.background)
    assert (last.margin.top, last.margin.left) == (mm(9), mm(5))
    assert last.header is not None
    assert last.footer is not None
    assert every.footer is None


def test_a_margin_overrides_the_single_sides_it_inherits():
    found = members("<page margin-top='30mm'/><page on='first' margin='5mm'/>")
    assert found["default", Occurrence.FIRST].margin.top == mm(5)
    found = members("<page margin='30mm'/><page on='first' margin-left='5mm'/>")
    assert found["default", Occurrence.FIRST].margin == (mm(30), mm(30), mm(30), mm(5))


def test_boxes_areas_and_watermarks_are_replaced_as_a_kind():
    found = members(
        "<page><box left='1mm'/><box left='2mm'/><area/><watermark text='A'/></page>"
        "<page on='first'><box left='3mm'/></page>"
    )
    first = found["default", Occurrence.FIRST]
    assert [box.position.left for box in boxes(first)] == [Length(mm(3))]
    assert len(first.areas) == 1
    assert [mark.text for mark in first.watermarks] == ["A"]


def test_a_page_box_without_offsets_is_at_the_corner_of_the_paper():
    (box,) = boxes(members("<page><box layer='over'/></page>")["default", Occurrence.ALL])
    assert box.position.is_over
    assert box.position.left is None
    (plain,) = boxes(members("<page><box/></page>")["default", Occurrence.ALL])
    assert plain.position is not None


def test_boxes_of_a_page_are_evaluated_for_it():
    pages = (
        "<page><box if='page.first' left='0'/><box for='n in range(page.count)' top='0'/></page>"
    )
    assert len(boxes(members(pages)["default", Occurrence.ALL])) == 4


def test_an_area_has_columns_offsets_and_an_overflow_rule():
    (area,) = members(
        "<page><area left='5mm' width='50%' columns='2' column-gap='1em' "
        "column-rule='1pt solid red' overflow='hidden'/></page>"
    )["default", Occurrence.ALL].areas
    assert (area.flow, area.overflow) == ("body", Overflow.HIDDEN)
    assert (area.position.left, area.width) == (Length(mm(5)), Length(50, LengthKind.PERCENT))
    assert (area.columns.count, area.columns.gap, area.columns.rule.width) == (2, 10, 1)


def test_bleed_and_marks_are_for_the_printer():
    master = members("<page bleed='3mm' marks='crop'/>")["default", Occurrence.ALL]
    assert (master.bleed, master.has_crop_marks) == (mm(3), True)


def test_flows_with_an_area_are_paginated_and_others_are_not():
    built = build_source(
        "<document><page><area flow='side'/></page><flow name='rest'><p>r</p></flow>"
        "<flow name='side' page='default'><p>s</p></flow><flow><p>b</p></flow></document>"
    )
    assert [(flow.name, flow.page) for flow in built.flows] == [
        ("body", "default"),
        ("side", "default"),
    ]


def test_the_family_of_a_block_is_that_of_all_in_it():
    (flow,) = document("<page name='wide'/>", "<div page='wide'><p>a</p></div><p>b</p>").flows
    (div, after) = flow.blocks
    assert isinstance(div, Container)
    assert [b.style.breaks.page for b in (div, div.children[0], after)] == ["wide", "wide", None]  # type: ignore[union-attr]


def test_a_family_that_an_expression_names_is_checked():
    (found,) = problems("<p page=\"{{ 'wi' ~ 'de' }}\">a</p>")
    assert found == 'There is no page "wide" [unknown-page]'


@pytest.mark.parametrize(("text", "number"), [("page", 1), ("page 5", 5)])
def test_a_numbering_run_begins_with_a_number(text: str, number: int):
    (flow,) = document("", f"<p counter-reset='{text}'>a</p>").flows
    assert flow.blocks[0].style.breaks.counter_reset == number  # type: ignore[union-attr]


def boxes(master: PageMaster) -> list[Container]:
    assert master.boxes is not None
    return list(master.boxes.evaluate(FIRST))  # type: ignore[arg-type]
