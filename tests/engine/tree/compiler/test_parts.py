"""Parts and slots: the names they know, and the use that findings in them name."""

from __future__ import annotations

import pytest

from tests.engine.tree.documents import (
    OPTIONS,
    blocks,
    build,
    cells,
    document,
    page,
    problems,
    refused,
    table,
    texts,
)
from workers.engine.pipeline import prepare_template, validate
from workers.engine.tree.nodes import Container, Paragraph
from workers.engine.tree.page_values import FragmentValues


def part(inside: str, takes: str = "", name: str = "a") -> str:
    return f'<part name="{name}" takes="{takes}">{inside}</part>'


def test_an_argument_that_is_one_expression_keeps_its_type():
    head = part(
        "<p>{{ n + 1 }}, {{ who.name }}, {{ rows | sum('v') }}, {{ text ~ '!' }}</p>",
        "n, who, rows, text",
    )
    use = '<use part="a" n="{{ 1 }}" who="{{ buyer }}" rows="{{ buyer.rows }}" text="{{ 1 }} and"/>'
    data = {"buyer": {"name": "Ada", "rows": [{"v": 1}, {"v": 2}]}}
    assert texts(use, data, head=head) == ["2, Ada, 3, 1 and!"]


def test_a_default_is_an_expression_over_the_names_of_every_part():
    head = part(
        "<p>{{ n }}, {{ name }}, {{ no | default('x') }}</p>", "n=1 + 1, name=data.name, no=none"
    )
    assert texts('<use part="a"/><use part="a" n="7"/>', {"name": "Ada"}, head=head) == [
        "2, Ada, x",
        "7, Ada, x",
    ]


@pytest.mark.parametrize("name", ["name", "rate", "item", "loop.index"])
def test_a_part_knows_none_of_the_names_around_its_use(name):
    head = part(f"<p>{{{{ {name} }}}}</p>", "own")
    flow = '<let name="rate" value="1"/><group for="item in [1]"><use part="a" own="x"/></group>'
    (reported,) = problems(flow, {"name": "Ada"}, head=head)
    root = name.partition(".")[0]
    assert reported.startswith(f'The name "{root}" is not known in the part "a", which takes own: ')


def test_a_row_expression_in_a_part_knows_the_arguments_alone():
    head = part("<p>{{ rows | sum('v * rate') }}</p>", "rows, rate")
    use = '<use part="a" rows="{{ r }}" rate="{{ 3 }}"/>'
    assert texts(use, {"r": [{"v": 2}], "rate": 5}, head=head) == ["6"]
    head = part("<p>{{ rows | sum('v * rate') }}</p>", "rows")
    (reported,) = problems(
        '<use part="a" rows="{{ r }}"/>', {"r": [{"v": 2}], "rate": 5}, head=head
    )
    assert 'the name "rate" is not known' in reported.replace("The", "the")
    assert 'part "a" used in line 1' in reported


def test_a_part_knows_the_data_the_time_and_the_document():
    head = part("<p>{{ data.name }}, {{ today }}, {{ doc.title }}, {{ now is defined }}</p>")
    assert texts('<use part="a"/>', {"name": "Ada"}, head=head, title="T") == [
        "Ada, 2026-11-21, T, true"
    ]


def test_an_argument_may_have_the_name_of_a_member_or_of_an_attribute():
    head = part("<p>{{ name }}, {{ lang }}, {{ class }}</p>", "name, lang, class='c'")
    assert texts('<use part="a" name="x" lang="{{ name }}"/>', {"name": "Ada"}, head=head) == [
        "x, Ada, c"
    ]


def test_slot_content_sees_the_names_at_its_use():
    head = part('<let name="n" value="9"/><p for="i in [1, 2]">{{ i }}, {{ n }}: <slot/></p>', "n")
    flow = '<let name="n" value="5"/><use for="w in words" part="a" n="1">{{ w }}{{ n }}{{ loop.index }}</use>'
    assert texts(flow, {"words": ["x", "y"]}, head=head) == [
        "1, 9: x51",
        "2, 9: x51",
        "1, 9: y52",
        "2, 9: y52",
    ]


def test_a_slot_in_a_slot_leads_to_the_first_use():
    outer = part('<use part="b" x="{{ x }}1"><p>{{ x }}</p><slot/></use>', "x")
    inner = part("<p>{{ x }}</p><slot/>", "x", name="b")
    flow = '<let name="x" value="\'flow\'"/><use part="a" x="a"><p>{{ x }}</p></use>'
    assert texts(flow, head=outer + inner) == ["a1", "a", "flow"]


def test_a_slot_that_nothing_fills_shows_its_own_content():
    head = part("<p><slot>none of {{ x }}</slot></p>", "x='x'")
    assert texts(
        '<use part="a"/><use part="a"> <!-- c --> </use><use part="a">y</use>', head=head
    ) == ["none of x", "none of x", "y"]


def test_a_part_in_a_line_brings_no_spaces_of_its_own():
    head = part("\n  <i>{{ x }}</i>\n  and <slot/>\n", "x") + part("\n one two \n", name="b")
    flow = '<p>(<use part="a" x="1"> <b>2</b>\n</use>)(<use part="b"/>)</p>'
    assert texts(flow, head=head) == ["(1 and 2)(one two)"]


def test_names_that_a_part_sets_end_with_it():
    head = part('<let name="n" value="2"/><p>{{ n }}</p>')
    flow = '<let name="n" value="1"/><use part="a"/><p>{{ n }}</p>'
    assert texts(flow, head=head) == ["2", "1"]


def test_formats_in_a_slot_follow_the_language_around_it():
    head = part('<div lang="de"><slot/></div>')
    flow = '<use part="a"><p>{{ 1.5 | number }}</p></use>'
    assert texts(flow, head=head, lang="en") == ["1,5"]


def test_a_part_in_a_loop_names_its_iteration():
    head = part("<div><p>one</p></div>")
    found = blocks('<use for="n in [1, 2]" part="a"/>', head=head)
    assert [[str(step) for step in block.source.loop] for block in found] == [
        ["[1, 2] row 1", 'part "a" used in line 1'],
        ["[1, 2] row 2", 'part "a" used in line 1'],
    ]


def test_a_part_in_a_header_knows_the_page():
    head = part("<p>{{ page.number }} <slot/></p>") + (
        '<page><header><use part="a">of {{ page.count }} {{ name }}</use></header></page>'
    )
    made = build("<p/>", {"name": "Ada"}, head=head).masters[0].header
    assert made is not None
    (box,) = made.content.evaluate(page(2, 3))
    assert isinstance(box, Container)
    (block,) = box.children
    assert isinstance(block, Paragraph)
    assert "".join(getattr(i, "text", "") for i in block.inlines) == "2 of 3 Ada"


def test_table_heads_in_a_part_retain_their_slot_content():
    head = part("<table><thead><tr><slot/></tr></thead><tr><td>x</td></tr></table>")
    flow = '<use for="w in words" part="a"><th>{{ w }} {{ page.number }}</th></use>'
    found = blocks(flow, {"words": ["one", "two"]}, head=head)
    made = [
        block.heads[0].rows.evaluate(FragmentValues((), (), (), (), page(1, 1))) for block in found
    ]
    assert [rows[0].cells[0] for rows in made] == ["one 1", "two 1"]


def test_a_page_value_outside_of_page_time_is_an_error_in_a_part_too():
    head = part("<p>{{ page.number }}</p>")
    (reported,) = problems('<use part="a"/>', head=head)
    assert "[page-value-outside-page-time]" in reported


def test_rows_of_a_part_count_for_a_total_by_the_names_of_the_part():
    head = part('<tr count="true"><td>{{ v }}</td><td>{{ totals.t.running }}</td></tr>', "v")
    flow = '<table><col/><col/><total name="t" value="v"/><use for="n in [1, 2]" part="a" v="{{ n }}"/></table>'
    assert cells(table(flow, head=head)) == [["1", "1"], ["2", "3"]]


def test_items_of_a_part_are_numbered_with_those_around():
    head = part("<li>b</li><li>c</li>")
    (found,) = blocks('<ol><li>a</li><use part="a"/><li>d</li></ol>', head=head)
    assert [item.marker for item in found.children] == ["1.", "2.", "3.", "4."]


def test_an_id_of_a_part_needs_an_expression_where_it_is_used_twice():
    (reported,) = problems('<use part="a"/><use part="a"/>', head=part('<p id="x">a</p>'))
    assert "[duplicate-id]" in reported
    assert (
        problems(
            '<use part="a" n="x"/><use part="a" n="y"/>', head=part('<p id="{{ n }}">a</p>', "n")
        )
        == []
    )


def test_uses_count_as_iterations(monkeypatch):
    monkeypatch.setattr("workers.engine.tree.build_state.MAX_ITERATIONS", 1_000)
    rows = "[" + ", ".join("1" * 10) + "]"
    flow = f'<group for="a in {rows}"><group for="b in {rows}"><use for="c in {rows}" part="a"/></group></group>'
    (reported,) = refused(document(flow, head=part("<p>a</p>")))
    assert "[too-many-turns]" in reported


def test_an_undeclared_member_is_reported_inside_of_a_part():
    fields = '<field name="buyer.name"/>'
    source = document(
        '<use part="a" who="{{ buyer }}"/>',
        {"buyer": {"name": "A"}},
        head=part("<p>{{ who.nmae }}</p>", "who"),
    )
    source = source.replace("</json>", f"</json>{fields}")
    found = validate(prepare_template(source.encode()), None, options=OPTIONS)
    assert "undeclared-member" in {finding.code for finding in found}


# --- else -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("paid", "shown"), [(True, ["a", "z"]), (False, ["b", "c", "z"])])
def test_else_is_built_if_the_condition_before_it_fails(paid, shown):
    flow = '<p if="paid">a</p>\n<!-- c -->\n<else><p>b</p><p>c</p></else><p>z</p>'
    assert texts(flow, {"paid": paid}) == shown


def test_else_in_else_is_a_chain():
    flow = '<p if="n == 1">one</p><else><p if="n == 2">two</p><else><p>many</p></else></else>'
    assert [texts(flow, {"n": n}) for n in (1, 2, 3)] == [["one"], ["two"], ["many"]]


def test_else_in_a_line_in_cells_rows_and_items():
    flow = '<p>It is <b if="x">yes</b><else>no</else>.</p>'
    assert [texts(flow, {"x": x}) for x in (True, False)] == [["It is yes."], ["It is no."]]
    flow = '<table><tr if="x"><td>a</td></tr><else><tr><td if="x">b</td><else><td>c</td></else></tr></else></table>'
    assert [cells(table(flow, {"x": x})) for x in (True, False)] == [[["a"]], [["c"]]]
    flow = '<ol><li if="x">a</li><else><li>b</li><li>c</li></else></ol>'
    assert [len(blocks(flow, {"x": x})[0].children) for x in (True, False)] == [1, 2]


def test_else_among_columns_heads_and_captions():
    flow = (
        '<table><caption if="x">A</caption><else><caption>B</caption></else>'
        '<col if="x" width="10mm"/><else><col width="20mm"/><col/></else>'
        '<thead if="x"><tr><th>a</th></tr></thead><else><thead><tr><th>b</th><th>c</th></tr></thead></else>'
        '<tbody if="x"><tr><td>1</td></tr></tbody><else><tbody><tr><td>1</td><td>2</td></tr></tbody></else></table>'
    )
    for x, columns in ((True, 1), (False, 2)):
        found = table(flow, {"x": x})
        assert len(found.columns) == columns
        assert len(found.heads) == len(found.captions) == len(found.bodies) == 1
        assert len(cells(found)[0]) == columns


def test_a_group_of_bodies_keeps_the_rows_beside_them():
    flow = '<table><group for="n in [1, 2]"><tr><td>{{ n }}</td></tr><tbody><tr><td>b</td></tr></tbody></group></table>'
    assert cells(table(flow)) == [["1"], ["b"], ["2"], ["b"]]


def test_else_after_a_use_and_in_a_slot():
    head = part('<slot/><p if="x">a</p><else><p>b</p></else>', "x")
    flow = '<use if="on" part="a" x="{{ on }}"><p if="on">c</p><else><p>d</p></else></use><else><p>off</p></else>'
    assert [texts(flow, {"on": on}, head=head) for on in (True, False)] == [["c", "a"], ["off"]]


def test_a_let_in_an_else_ends_with_it():
    flow = '<let name="n" value="1"/><p if="1 == 2"/><else><let name="n" value="2"/><p>{{ n }}</p></else><p>{{ n }}</p>'
    assert texts(flow) == ["2", "1"]


def test_filters_are_chained_into_a_let_inside_a_flow():
    flow = "<let name=\"n\" value=\"rows | where('v > 1') | sort('v', reverse=true) | map('v') | join(', ')\"/><p>{{ n }}</p>"
    assert texts(flow, {"rows": [{"v": 1}, {"v": 2}, {"v": 3}]}) == ["3, 2"]


def test_a_failing_condition_builds_neither_and_is_reported_once():
    flow = '<p if="1 + \'a\'">a</p><else><p id="{{ 1 + none }}">b</p></else>'
    (reported,) = problems(flow)
    assert reported.endswith("[expression]")


def test_a_box_of_a_part_is_built_where_it_is_used():
    (box,) = blocks('<use part="a"/>', head=part("<div><p>x</p></div>"))
    assert isinstance(box, Container)


def test_a_part_knows_the_settings_of_the_template():
    head = '<setting name="accent" value="blue"/>' + part("<p>{{ settings.accent }}</p>")
    assert texts('<use part="a"/>', {}, head=head) == ["blue"]
