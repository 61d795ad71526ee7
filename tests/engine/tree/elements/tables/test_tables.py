"""Tables: plain rows by one function, rich cells as blocks, heads and feet per fragment."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.engine.tree.documents import OPTIONS, cells, document, page, problems, table, text_of
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import render
from workers.engine.ports import Payload, PayloadKind
from workers.engine.tree.nodes import Occurrence, Paragraph, Role
from workers.engine.tree.page_values import FragmentValues

LINES = {"lines": [{"n": 1, "t": "a"}, {"n": 2.5, "t": "b  c"}, {"n": None, "t": " d\n"}]}
PIECE = FragmentValues((), (), (), (), page(2, 3))


def test_plain_cells_are_texts_in_one_shared_template() -> None:
    found = table(
        '<table><tr for="l in lines"><td> {{ l.t }} </td><td>{{ l.n | number(2) }} €</td></tr></table>',
        LINES,
    )
    assert cells(found) == [["a", "1.00 €"], ["b c", "2.50 €"], ["d", "€"]]
    assert len({id(row.template) for row in found.bodies[0].rows}) == 1
    assert found.bodies[0].rows[2].loop[0].index == 3


def test_condition_filters_rows_and_loop_counts_iterations() -> None:
    flow = '<table><tr for="l in lines" if="l.n"><td>{{ loop.index }}</td></tr></table>'
    assert cells(table(flow, LINES)) == [["1"], ["2"]]


def test_cell_with_marks_is_blocks() -> None:
    found = table('<table><tr for="l in lines"><td><b>{{ l.t }}</b></td><td/></tr></table>', LINES)
    (paragraph,), empty = cells(found)[1]
    assert isinstance(paragraph, Paragraph)
    assert (text_of(paragraph), empty) == ("b c", "")


def test_text_that_keeps_its_lines_is_blocks() -> None:
    found = table('<table><tr><td white-space="pre">a\n b</td><td>c</td></tr></table>')
    (paragraph,), plain = cells(found)[0]
    assert isinstance(paragraph, Paragraph)
    assert (text_of(paragraph), plain) == ("a\n b", "c")


def test_transform_reaches_plain_cells() -> None:
    found = table("<table text-transform=\"uppercase\"><tr><td>ab {{ 'c' }}</td></tr></table>")
    assert cells(found) == [["AB C"]]


def test_cells_may_be_repeated_across_dynamic_columns() -> None:
    flow = (
        '<table><col for="c in cols" text-align="end"/><tr for="l in lines">'
        '<td for="c in cols">{{ c }}{{ l.t }}</td></tr></table>'
    )
    found = table(flow, LINES | {"cols": ["x", "y"]})
    assert len(found.columns) == 2
    assert cells(found)[0] == ["xa", "ya"]


def test_groups_hold_rows_together() -> None:
    flow = '<table><group for="l in lines"><tr><td>{{ l.t }}</td></tr><tr><td>-</td></tr></group></table>'
    assert cells(table(flow, LINES))[:2] == [["a"], ["-"]]


def test_each_body_of_a_loop_is_its_own() -> None:
    found = table(
        '<table><tbody for="l in lines"><tr><td>{{ l.t }}</td></tr></tbody></table>', LINES
    )
    assert [len(body.rows) for body in found.bodies] == [1, 1, 1]


def test_head_and_foot_are_evaluated_for_each_piece() -> None:
    found = table(
        "<table><thead><tr><th>Page {{ page.number }}</th></tr></thead>"
        "<tr><td>x</td></tr><tfoot><tr><td>end</td></tr></tfoot></table>"
    )
    (head,), (foot,) = found.heads, found.feet
    assert (head.on, head.rows.is_static) == (Occurrence.ALL, False)
    assert (foot.on, foot.rows.is_static) == (Occurrence.LAST, True)
    (row,) = head.rows.evaluate(PIECE)
    assert list(row.cells) == ["Page 2"]
    assert row.template.cells[0].role is Role.HEAD_CELL


def test_a_span_of_any_size_makes_no_columns_beyond_the_limit() -> None:
    for span in "9" * 24, "90000000":
        value, cells = problems(f'<table><tr><td colspan="{span}">a</td></tr></table>')
        assert "accepted is a whole number from 1 to 200 [wrong-value]" in value
        assert "the table has 1000." in cells


def test_row_that_does_not_fill_the_columns_is_reported() -> None:
    reported = problems(
        '<table><col/><col/><tr><td>a</td></tr><tr><td colspan="2">b</td></tr></table>'
    )
    assert reported == [
        "The row has cells for 1 column, the table has 2. Add or remove cells, or change a colspan [cell-count]"
    ]


def test_row_built_from_data_that_does_not_fill_the_columns_is_reported() -> None:
    reported = problems('<table><col/><tr><td for="n in [1, 2]">a</td></tr></table>')
    assert any("cells for 2 columns" in problem for problem in reported)


def test_columns_are_counted_from_the_first_row_without_cols() -> None:
    found = table('<table><tr><td colspan="2">a</td><td>b</td></tr></table>')
    assert len(found.columns) == 3


def test_columns_are_counted_from_the_first_row_whose_cells_are_certain() -> None:
    found = table(
        '<table><tr><td if="true">a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>'
    )
    assert cells(found) == [["a", "b"], ["c", "d"]]


def test_rows_whose_cells_all_come_from_data_need_cols() -> None:
    (reported,) = problems('<table><tr><td for="n in [1, 2]">a</td></tr></table>')
    assert "declare the columns with `col`" in reported


def test_failing_cell_is_reported_at_the_cell() -> None:
    reported = problems(
        '<table><tr for="l in lines"><td>{{ l.t }}</td><td>{{ l.n + 1 }}</td></tr></table>', LINES
    )
    assert len(reported) == 1
    assert "+ needs two numbers" in reported[0].replace("nothing", "nothing")
    assert "(lines row 3)" in reported[0]


def test_amounts_stay_exact_through_a_table() -> None:
    flow = "<table><tr for=\"l in lines\"><td>{{ l.a + l.b }}</td></tr><tr><td>{{ lines | sum('a') }}</td></tr></table>"
    data = {"lines": [{"a": 0.1, "b": 0.2}, {"a": 0.7, "b": 0.1}]}
    assert cells(table(flow, data)) == [["0.3"], ["0.8"], [str(Decimal("0.8"))]]


def test_only_the_user_agent_rule_is_overridden_by_a_later_one() -> None:
    head = "<tr><th>x</th></tr></thead>"
    found = table(
        f'<table><thead>{head}<thead border-bottom="0.5pt solid black">{head}'
        f"<tr><td>y</td></tr></table>"
    )
    assert [group.has_built_in_rule for group in found.heads] == [True, False]


def test_heads_read_the_lists_and_records_they_name() -> None:
    data = {"titles": ["One", "Two"], "who": {"name": "Ann"}, "rows": [{"n": 1}, {"n": 2}]}
    found = table(
        '<table><thead><tr for="t in titles"><th>{{ t }} {{ page.number }}</th></tr>'
        "<tr><th>{{ who.name }} {{ rows | sum('n') }}</th></tr></thead>"
        '<tr for="r in rows"><td>{{ r.n }}</td></tr></table>',
        data,
    )
    rows = found.heads[0].rows.evaluate(PIECE)
    assert [row.cells[0] for row in rows] == ["One 2", "Two 2", "Ann 3"]


HEAD_OF_SEVERAL_PAGES = (
    "<table><thead><tr><th>{} {{{{ page.number }}}}</th></tr></thead>"
    '<tr for="n in range(0, 99)"><td>{{{{ n }}}}</td></tr></table>'
)


def test_an_id_in_a_head_that_differs_from_page_to_page_is_given_once() -> None:
    source = document(HEAD_OF_SEVERAL_PAGES.format('<p id="a">Page</p>'))
    assert render(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS).pdf


def test_a_link_in_a_head_that_leads_nowhere_is_reported() -> None:
    source = document(HEAD_OF_SEVERAL_PAGES.format('<a href="#b">Page</a>'))
    with pytest.raises(AuthoringError, match='The link leads to "#b", but no element has that id'):
        render(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS)
