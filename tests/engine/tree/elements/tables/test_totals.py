"""Totals: contributions of rows, running totals, and where totals are known."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.engine.tree.documents import blocks, cells, page, problems, table, text_of
from workers.engine.tree.elements.tables.columns import add_all, initial_values
from workers.engine.tree.nodes import Occurrence, Table
from workers.engine.tree.page_values import FragmentValues, Total, TotalMode

ROWS = {"start": 10, "rows": [{"n": 0.1, "t": "a"}, {"n": 0.2, "t": "b"}, {"n": None, "t": "c"}]}
SUM = '<total name="sum" value="r.n or 0" start="start"/>'


def shown(inside, data=ROWS):
    return cells(table(f"<table>{inside}</table>", data))


def counted(inside, data=ROWS):
    found = table(f"<table>{inside}</table>", data)
    return [row.contributions for body in found.bodies for row in body.rows]


def test_totals_run_up_exactly_from_their_start():
    rows = shown(
        f'{SUM}<tr for="r in rows"><td>{{{{ r.t }}}} {{{{ totals.sum.running }}}}</td></tr>'
    )
    assert rows == [["a 10.1"], ["b 10.3"], ["c 10.3"]]


def test_many_rows_are_added_as_one_after_the_other_is():
    totals = [Total(mode.value, mode, Decimal("0.10")) for mode in TotalMode]
    totals += [Total("none", TotalMode.MIN, None), Total("late", TotalMode.MAX, None)]
    numbers = [Decimal(text) for text in ("1.5", "-2.25", "7", "0.10", "1E-20")]
    rows = [(each,) * len(TotalMode) + (None, None) for each in numbers]
    rows[1:1] = [(), (Decimal(9), Decimal(1), None, None, None, None, Decimal("3.50"))]
    carried = one_by_one = initial_values(totals)
    for row in rows:
        one_by_one = add_all(totals, one_by_one, [row])
    assert str(add_all(totals, carried, rows)) == str(one_by_one)
    assert add_all(totals, carried, [(), ()]) == carried


def test_rows_with_marks_in_their_cells_run_up_too():
    found = table(
        f'<table>{SUM}<tr for="r in rows"><td><b>{{{{ totals.sum.running }}}}</b></td></tr></table>',
        ROWS,
    )
    assert [text_of(cell[0]) for row in cells(found) for cell in row] == ["10.1", "10.3", "10.3"]


def test_rows_that_carry_for_are_counted_and_others_where_they_say_so():
    inside = (
        '<total name="n" mode="count"/><tr><td>1</td></tr><tr count="true"><td>2</td></tr>'
        '<tr for="r in rows"><td>3</td></tr><tr for="r in rows" count="false"><td>4</td></tr>'
    )
    one = (Decimal(1),)
    assert counted(inside) == [(), one, one, one, one, (), (), ()]


def test_rows_left_out_by_their_condition_are_not_counted():
    inside = '<total name="n" mode="count"/><tr for="r in rows" if="r.n"><td/></tr>'
    assert counted(inside) == [(Decimal(1),)] * 2


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("sum", ["2", "1", "4"]),
        ("last", ["2", "-1", "3"]),
        ("min", ["2", "-1", "-1"]),
        ("max", ["2", "2", "3"]),
        ("count", ["1", "2", "3"]),
    ],
)
def test_each_mode_takes_values_its_own_way(mode, expected):
    inside = (
        f'<total name="x" mode="{mode}" value="v"/>'
        '<tr for="v in [2, -1, 3]"><td>{{ totals.x.running }}</td></tr>'
    )
    assert shown(inside) == [[text] for text in expected]


def test_a_last_value_passes_over_rows_without_one():
    inside = (
        '<total name="x" mode="last" value="r.n"/>'
        '<tr for="r in rows"><td>{{ totals.x.running }}</td></tr>'
    )
    assert shown(inside) == [["0.1"], ["0.2"], ["0.2"]]


def test_totals_of_all_bodies_are_known_after_the_table():
    flow = (
        f'<table>{SUM}<tbody for="k in [1, 2]"><tr for="r in rows"><td/></tr></tbody></table>'
        "<p>{{ totals.sum.all }}</p>"
    )
    *_, paragraph = blocks(flow, ROWS)
    assert text_of(paragraph) == "10.6"


def test_a_table_in_a_cell_has_totals_of_its_own():
    inner = '<total name="inner" value="k"/><tr for="k in [1, 2]"><td>{{ totals.inner.running }}/{{ totals.sum.running }}</td></tr>'
    found = table(
        f'<table>{SUM}<tr for="r in rows"><td><table>{inner}</table></td></tr></table>', ROWS
    )
    tables = [cell[0] for row in cells(found) for cell in row]
    assert all(isinstance(one, Table) for one in tables)
    assert cells(tables[1]) == [["1/10.3"], ["3/10.3"]]


def test_data_called_totals_stay_readable_where_no_table_has_totals():
    (paragraph,) = blocks("<p>{{ totals.net }}</p>", {"totals": {"net": 5}})
    assert text_of(paragraph) == "5"


def test_data_called_totals_are_read_through_data_beside_totals_of_a_table():
    flow = '<table><total name="n" mode="count"/><tr for="r in [1, 2]"><td/></tr></table><p>{{ data.totals.net }} {{ totals.n.all }}</p>'
    *_, paragraph = blocks(flow, {"totals": {"net": 5}})
    assert text_of(paragraph) == "5 2"


def test_heads_and_feet_read_the_totals_of_their_fragment():
    found = table(
        f'<table>{SUM}<tr for="r in rows"><td/></tr><tfoot on="all"><tr><td>'
        "{{ totals.sum.before }} {{ totals.sum.here }} {{ totals.sum.after }} {{ totals.sum.all }}"
        "</td></tr></tfoot></table>",
        ROWS,
    )
    (foot,) = found.feet
    values = [(Decimal(n),) for n in (1, 2, 3, 4)]
    (row,) = foot.rows.evaluate(FragmentValues(*values, page(1, 1)))
    assert (foot.on, list(row.cells)) == (Occurrence.ALL, ["1 2 3 4"])
    assert found.totals == (Total("sum", TotalMode.SUM, Decimal(10)),)


def test_validation_finds_errors_in_a_head_without_rows():
    reported = problems(
        f'<table>{SUM}<thead on="rest"><tr><td>{{{{ totals.sum.before + "x" }}}}</td></tr></thead>'
        '<tr for="r in rows"><td/></tr></table>',
        {"start": 0, "rows": []},
    )
    assert any("+ needs two numbers" in problem for problem in reported)


def test_a_value_that_is_not_a_number_is_reported_once_with_its_row():
    reported = problems(
        '<table><total name="sum" value="r.t"/><tr for="r in rows"><td/></tr></table>', ROWS
    )
    assert reported == ['The total "sum" needs a number, not text (rows row 1) [total]']


def test_sums_past_the_limit_are_reported():
    flow = (
        '<table><total name="sum" value="big * big"/>'
        '<tr for="r in rows"><td>{{ totals.sum.running }}</td></tr></table>'
    )
    reported = problems(flow, {"rows": [1] * 20, "big": 9e29})
    assert reported == ["The totals grow too large to be exact (rows row 13) [total]"]
