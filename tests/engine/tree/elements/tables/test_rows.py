"""Rows: spanning cells, repeated rows, captions, and the fragments that sections are on."""

from __future__ import annotations

from tests.engine.tree.documents import problems, table, text_of
from workers.engine.tree.nodes import Occurrence, Role


def starts(found):
    return [row.template.starts for body in found.bodies for row in body.rows]


def test_cells_below_a_spanning_cell_begin_in_the_columns_it_leaves():
    found = table(
        "<table><tr><td>a</td><td rowspan='2'>b</td><td>c</td></tr><tr><td>d</td><td>e</td></tr>"
        "<tr><td>f</td><td>g</td><td>h</td></tr></table>"
    )
    assert starts(found) == [(), (0, 2), ()]


def test_cells_below_take_the_defaults_of_the_column_they_stand_in():
    found = table(
        '<table><col/><col text-align="center"/><tr><td rowspan="2">a</td><td>b</td></tr>'
        "<tr><td>c</td></tr></table>"
    )
    second = found.bodies[0].rows[1].template.cells[0]
    assert second.style.paragraph.align == "center"


def test_a_span_ends_with_its_section():
    reported = problems(
        '<table><col/><tbody><tr><td rowspan="3">a</td></tr></tbody><tr><td>b</td></tr></table>'
    )
    assert reported == [
        "The cell spans 2 rows more than its section has. Make its rowspan smaller, or add rows [rowspan]"
    ]


def test_a_table_in_a_cell_is_not_covered_by_the_cells_around_it():
    found = table(
        "<table><tr><td rowspan='2'>a</td><td>b</td></tr>"
        "<tr><td><table><tr><td>c</td><td>d</td></tr></table></td></tr></table>"
    )
    ((inner,),) = found.bodies[0].rows[1].cells
    assert starts(inner) == [()]


def test_rows_beside_spanning_cells_share_a_template():
    found = table(
        "<table><thead><tr><th rowspan='2'>a</th><th>b</th></tr><tr><th>c</th></tr></thead>"
        "<tr for='n in [1, 2]'><td>{{ n }}</td><td>d</td></tr></table>"
    )
    first, second = found.bodies[0].rows
    assert first.template is second.template


def test_group_heads_are_marked():
    found = table('<table><tr repeat="true"><td>a</td></tr><tr><td>b</td></tr></table>')
    assert [row.template.repeats for row in found.bodies[0].rows] == [True, False]


def test_parts_say_which_pieces_they_stand_on():
    found = table(
        "<table><caption>Title</caption><caption on='rest'>more</caption>"
        "<thead on='first'><tr><th>a</th></tr></thead><thead><tr><th>b</th></tr></thead>"
        "<tr><td>c</td></tr><tfoot on='not-last'><tr><td>d</td></tr></tfoot></table>"
    )
    assert [caption.on for caption in found.captions] == [Occurrence.FIRST, Occurrence.REST]
    assert [head.on for head in found.heads] == [Occurrence.FIRST, Occurrence.ALL]
    assert [foot.on for foot in found.feet] == [Occurrence.NOT_LAST]
    title = found.captions[0].block
    assert (title.role, text_of(title)) == (Role.CAPTION, "Title")


def test_decimal_alignment_knows_the_sign_of_its_language():
    found = table(
        '<table text-align="decimal"><tr><td lang="de">1,5</td><td lang="en">1.5</td></tr></table>'
    )
    signs = [cell.style.paragraph.decimal_sign for cell in found.bodies[0].rows[0].template.cells]
    assert signs == [",", "."]
