"""The cascade: user-agent styles, element styles, classes, own attributes, and inheritance."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.tree.documents import blocks, build, problems, table
from workers.engine.tree.nodes import Container, ListBlock, Paragraph, TextRun
from workers.engine.tree.styles.computed import Align, BreakTo, Style
from workers.engine.units import ZERO, BorderStyle, Color, ColorSpace, Length, LengthKind, mm

RED = Color(ColorSpace.RGB, (1.0, 0.0, 0.0))


def style(flow: str, **options: Any) -> Style:
    """Return the style of the first block, or of the first in it."""
    block = blocks(flow, **options)[0]
    while isinstance(block, Container):
        block = block.children[0]
    return block.style


def test_later_steps_of_the_cascade_win() -> None:
    head = (
        '<style element="p" color="blue" font-size="8pt" text-align="center"/>'
        '<style name="a" color="green" font-size="9pt"/><style name="b" color="red"/>'
    )
    found = style('<p class="a b" text-align="end">x</p>', head=head)
    assert (found.text.color, found.text.size, found.paragraph.align) == (RED, 9.0, Align.RIGHT)


def test_classes_win_in_the_order_they_are_listed() -> None:
    head = '<style name="a" font-size="9pt"/><style name="b" font-size="11pt"/>'
    assert style('<p class="b a">x</p>', head=head).text.size == 9
    assert style('<p class="a b">x</p>', head=head).text.size == 11


def test_extending_style_starts_from_the_other() -> None:
    head = (
        '<style name="grand" extends="money" font-weight="bold"/>'
        '<style name="money" text-align="end" color="red"/>'
    )
    found = style('<p class="grand">x</p>', head=head)
    assert (found.paragraph.align, found.text.weight, found.text.color) == (Align.RIGHT, 700, RED)


def test_text_properties_are_inherited_and_boxes_are_not() -> None:
    found = style(
        '<div font-size="14pt" color="red" padding="3mm" background="blue"><p>x</p></div>'
    )
    assert (found.text.size, found.text.color) == (14, RED)
    assert (found.box.padding.top, found.box.background) == (0, None)


def test_line_height_by_number_follows_the_font_of_each_element() -> None:
    found = style('<div line-height="2"><p font-size="20pt">x</p></div>')
    assert found.paragraph.line_height == 40
    found = style('<div line-height="2em"><p font-size="20pt">x</p></div>')
    assert found.paragraph.line_height == 20


def test_relative_units_stand_on_the_right_font_size() -> None:
    head = '<style element="document" font-size="8pt"/>'
    found = style(
        '<div font-size="200%"><p font-size="0.5em" margin="1em 1rem">x</p></div>', head=head
    )
    assert found.text.size == 8
    assert found.box.margin[:2] == (Length(8.0), Length(8.0))


def test_side_wins_over_its_shorthand() -> None:
    found = style(
        '<p padding="1mm 2mm" padding-left="5mm" border="1pt solid red" border-top="none">x</p>'
    )
    assert [round(side / mm(1)) for side in found.box.padding] == [1, 2, 1, 5]
    assert found.box.border.top.width == 0
    assert found.box.border.right.style is BorderStyle.SOLID


def test_document_style_is_the_root_of_all() -> None:
    head = '<style element="document" font-family="Noto Serif" font-size="13pt"/>'
    found = style("<p>x</p>", head=head)
    assert (found.text.families, found.text.size) == (("Noto Serif",), 13)


def test_named_colours_are_found() -> None:
    assert (
        style('<p color="brand">x</p>', head='<color name="brand" value="#ff0000"/>').text.color
        == RED
    )


def test_user_agent_styles() -> None:
    heading = style("<h1>x</h1>")
    assert (heading.text.size, heading.text.weight, heading.breaks.after) == (
        18,
        700,
        BreakTo.AVOID,
    )
    assert style("<p>x</p>").box.margin.bottom == Length(mm(2))
    assert style("<pre>x</pre>").text.families == ("JetBrains Mono",)


def test_lists_in_lists_keep_the_rhythm_of_the_items() -> None:
    (outer,) = blocks("<ul><li>a<ol><li>b</li></ol></li><li>c</li></ul>")
    assert isinstance(outer, ListBlock)
    inner = outer.children[0].children[1]
    assert isinstance(inner, ListBlock)
    between = outer.children[0].style.box.margin.bottom
    assert (outer.style.box.margin.top, outer.style.box.margin.bottom) == (ZERO, Length(mm(2)))
    above = Length(between.value, LengthKind.BETWEEN)
    assert (inner.style.box.margin.top, inner.style.box.margin.bottom) == (above, ZERO)


def test_a_declared_margin_holds_for_lists_in_lists_too() -> None:
    head = '<style element="ul" margin-bottom="3mm"/>'
    (outer,) = blocks("<ul><li>a<ul><li>b</li></ul></li></ul>", head=head)
    assert isinstance(outer, ListBlock)
    inner = outer.children[0].children[1]
    assert isinstance(inner, ListBlock)
    assert inner.style.box.margin.bottom == Length(mm(3))


def test_marks_change_only_what_they_mean() -> None:
    (paragraph,) = blocks('<p font-size="20pt">a<b>b</b><u><i>c</i></u><sup>d</sup></p>')
    assert isinstance(paragraph, Paragraph)
    plain, bold, under, raised = (i.style for i in paragraph.inlines if isinstance(i, TextRun))
    assert (plain.weight, bold.weight) == (400, 700)
    assert (under.decoration, under.is_italic) == ("underline", True)
    assert raised.size == 14
    assert raised.rise > 0


def test_equal_styles_are_one_object() -> None:
    first, second = blocks('<p color="red">a</p><p color="#ff0000">b</p>')
    assert first.style is second.style


def test_style_from_data_is_computed_once_for_each_value() -> None:
    found = table(
        '<table><tr for="l in lines" background="{{ \'red\' if l.n > 1 }}"><td>{{ l.n }}</td></tr></table>',
        {"lines": [{"n": 1}, {"n": 2}, {"n": 3}]},
    )
    looks = [row.template.style for row in found.bodies[0].rows]
    assert [look.box.background for look in looks] == [None, RED, RED]
    assert looks[1] is looks[2]


def test_column_has_defaults_that_a_cell_overrides() -> None:
    found = table(
        '<table cell-padding="0"><col text-align="end"/><col width="20mm" padding="2mm"/>'
        '<tr><td>1</td><td text-align="center">2</td></tr><tr><th colspan="2">3</th></tr></table>'
    )
    first, second = (row.template.cells for row in found.bodies[0].rows)
    assert [cell.style.paragraph.align for cell in first] == [Align.RIGHT, Align.CENTER]
    assert second[0].style.paragraph.align is Align.RIGHT
    assert [cell.style.box.padding.top for cell in first] == [0, mm(2)]
    assert [column.width.kind for column in found.columns] == [LengthKind.AUTO, LengthKind.POINTS]


def test_cell_padding_of_a_style_holds_for_its_tables() -> None:
    head = '<style element="table" cell-padding="3mm" stripe="white #ff0000"/>'
    found = table("<table><tr><td>1</td></tr></table>", head=head)
    assert found.bodies[0].rows[0].template.cells[0].style.box.padding.top == mm(3)
    assert found.stripe[1] == RED


def test_start_is_right_in_languages_written_from_the_right() -> None:
    assert style('<p lang="he">x</p>').paragraph.align is Align.RIGHT
    assert build("<p>x</p>", lang="ar").flows[0].blocks[0].style.paragraph.is_rtl


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        ("<p class=\"{{ 'nope' }}\">x</p>", 'There is no style "nope" [unknown-style]'),
        ("<p color=\"{{ 'nope' }}\">x</p>", 'There is no colour "nope" [unknown-color]'),
        ("<p font-size=\"{{ 'big' }}\">x</p>", 'The attribute "font-size" evaluates to "big"'),
        ("<p lang=\"{{ 'qq' }}\">x</p>", 'There are no formats for the language "qq"'),
    ],
)
def test_wrong_value_from_data_is_reported(flow: str, message: str) -> None:
    assert any(message in problem for problem in problems(flow))


def test_vertical_align_comes_down_to_cells() -> None:
    head = '<style name="mid" vertical-align="middle"/>'
    found = table(
        '<table><tr class="mid"><td>a</td><td vertical-align="top">b</td></tr></table>', head=head
    )
    looks = [cell.style.box.vertical_align.value for cell in found.bodies[0].rows[0].template.cells]
    assert looks == ["middle", "top"]
