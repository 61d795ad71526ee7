"""Building: loops, conditions, white space, loose text, lists, flows and page content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.engine.tree.documents import (
    OPTIONS,
    blocks,
    build,
    build_source,
    document,
    page,
    problems,
    refused,
    text_of,
    texts,
)
from workers.engine.diagnostics import Findings
from workers.engine.syntax.identifiers import ImageSource
from workers.engine.tree.build_state import BuildState, Scope
from workers.engine.tree.compiler.builders import keep_used
from workers.engine.tree.document import RunningBox
from workers.engine.tree.expressions.formats import get_formats
from workers.engine.tree.nodes import (
    Barcode,
    Block,
    Break,
    Container,
    Image,
    InlineBlock,
    LineBreak,
    ListBlock,
    Paragraph,
    Role,
    Row,
    Rule,
    TextRun,
)
from workers.engine.tree.page_values import PageValues
from workers.engine.units import mm

LINES = {"lines": [{"n": 1, "t": "a"}, {"n": 2, "t": "b"}, {"n": 3, "t": "c"}]}


# --- text -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flow", "expected"),
    [
        ("<p>  a \n  b  </p>", ["a b"]),
        ("<p>a <b> b </b> c</p>", ["a b c"]),
        ("<p>a<b> b</b></p>", ["a b"]),
        ("<p>a <br/> b</p>", ["a\nb"]),
        ("<p>a <b>b </b><br/>c</p>", ["a b\nc"]),
        ("<p>a\u00a0 b</p>", ["a\u00a0 b"]),
        ("<p> {{ ' x ' }} y</p>", ["x y"]),
        ("<p>{{ 'a  b' }}</p>", ["a b"]),
        ('<p white-space="pre">a  b\n c</p>', ["a  b\n c"]),
        ('<p white-space="pre-line">a  b \n c</p>', ["a b\nc"]),
        ('<p white-space="pre-wrap">a  b \n c</p>', ["a  b \n c"]),
        ("<pre>\ta</pre>", ["        a"]),
        ('<p text-transform="uppercase">ab<b>c</b></p>', ["ABC"]),
        ('<p text-transform="capitalize">it\'s two words</p>', ["It's Two Words"]),
        ("loose <b>text</b><p>p</p>tail", ["loose text", "p", "tail"]),
        ("  <p>p</p>  ", ["p"]),
        ('<group if="false">gone</group>', []),
        ("<div>a<p>b</p></div>", ["a", "b"]),
        ("<p>{{ '&lt;b&gt;' }}</p>", ["<b>"]),
    ],
)
def test_text_comes_out_as(flow: str, expected: list[str]) -> None:
    assert texts(flow) == expected


def test_neighbours_of_one_style_are_one_run() -> None:
    (paragraph,) = blocks("<p>a {{ 'b' }} <span>c</span></p>")
    assert isinstance(paragraph, Paragraph)
    assert [i.text for i in paragraph.inlines if isinstance(i, TextRun)] == ["a b c"]


def test_values_can_never_become_markup_or_expressions() -> None:
    assert texts("<p>{{ x }}</p>", {"x": "<b>{{ 1 + 1 }}</b>"}) == ["<b>{{ 1 + 1 }}</b>"]


def test_link_runs_know_their_target() -> None:
    (paragraph,) = blocks('<p>see <a href="https://x.example/{{ 1 }}">h<b>e</b></a></p>')
    assert isinstance(paragraph, Paragraph)
    links = [i.link for i in paragraph.inlines if isinstance(i, TextRun)]
    assert links == [None, "https://x.example/1", "https://x.example/1"]


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "//x"]
)
def test_link_from_data_to_anything_but_the_web_is_refused(href: str) -> None:
    reported = problems('<p><a href="{{ x }}">x</a></p>', {"x": href})
    assert any('The attribute "href" evaluates to' in problem for problem in reported)


# --- loops and conditions ---------------------------------------------------------------------------------


def test_loop_repeats_and_the_condition_filters_each_iteration() -> None:
    flow = '<p for="l in lines" if="l.n is odd">{{ loop.index }}/{{ loop.length }} {{ l.t }}</p>'
    assert texts(flow, LINES) == ["1/3 a", "3/3 c"]


def test_loop_knows_first_and_last() -> None:
    flow = "<p><group for=\"l in lines\">{{ ', ' if not loop.first }}{{ l.t }}</group></p>"
    assert texts(flow, LINES) == ["a, b, c"]


def test_inner_loop_hides_the_outer_one_only_inside() -> None:
    flow = (
        '<group for="l in lines"><p for="k in [1, 2]">{{ l.t }}{{ loop.index }}</p>'
        "<p>{{ l.t }} {{ loop.index }}</p></group>"
    )
    assert texts(flow, {"lines": LINES["lines"][:2]}) == ["a1", "a2", "a 1", "b1", "b2", "b 2"]


def test_record_is_gone_through_in_pairs() -> None:
    assert texts('<p for="k, v in r">{{ k }}={{ v }}</p>', {"r": {"x": 1, "y": 2}}) == [
        "x=1",
        "y=2",
    ]


def test_sources_name_their_iterations() -> None:
    found = blocks('<div for="l in lines"><p>same</p></div>', LINES)
    second = found[1]
    assert isinstance(second, Container)
    assert [(step.name, step.index) for step in second.children[0].source.loop] == [("lines", 2)]


def test_name_set_among_blocks_holds_for_later_siblings_only() -> None:
    flow = '<div><let name="x" value="1 + 1"/><p>{{ x }}</p></div>'
    assert texts(flow) == ["2"]
    assert any(
        'The name "x" is not known' in problem for problem in problems(flow + "<p>{{ x }}</p>")
    )


def test_loops_end_at_a_hundred_thousand_iterations() -> None:
    flow = '<group for="a in range(1000)"><group for="b in range(1000)"><p if="false">x</p></group></group>'
    assert any("too-many-turns" in problem for problem in refused(document(flow)))


def test_flows_that_multiply_each_other_are_bounded() -> None:
    doubling = "".join(
        f'<flow name="f{n}"><insert flow="f{n + 1}"/><insert flow="f{n + 1}"/></flow>'
        for n in range(25)
    )
    source = f'<document><flow><insert flow="f0"/></flow>{doubling}<flow name="f25"><p>x</p></flow></document>'
    assert any("too-many-turns" in problem for problem in refused(source))


def test_loop_over_a_value_that_is_not_a_list_is_reported() -> None:
    assert any(
        "needs a list, not text" in p for p in problems('<p for="c in x">y</p>', {"x": "abc"})
    )


# --- names ------------------------------------------------------------------------------------------------


def test_unknown_name_is_reported_with_the_nearest() -> None:
    (reported,) = problems("<p>{{ buyr }}</p>", {"buyer": 1})
    assert (
        reported
        == 'The name "buyr" is not known in {{ buyr }}; did you mean "buyer"? [unknown-name]'
    )


def test_a_let_may_use_one_that_is_written_below_it() -> None:
    lets = '<let name="a" value="b + 1"/><let name="b" value="2"/>'
    check = '<assert test="a != 3" message="a is {{ a }}"/>'
    (reported,) = refused(f"<document><data>{lets}{check}</data><flow/></document>")
    assert reported.startswith("a is 3")


@pytest.mark.parametrize("value", ["a + 1", "c + 1"])
def test_a_let_that_uses_its_own_value_is_reported(value: str) -> None:
    data = f'<data><let name="a" value="{value}"/><let name="c" value="a"/></data>'
    (reported, *_) = refused(f"<document>{data}<flow><p>{{{{ c }}}}</p></flow></document>")
    assert reported == (
        f'The name "{value[0]}" is not known in {{{{ {value} }}}}; '
        "a `let` cannot use its own value, not even through others [unknown-name]"
    )


def test_failure_in_a_loop_is_reported_once_with_its_row() -> None:
    reported = problems('<p for="l in lines">{{ l.missing }}</p>', LINES)
    assert reported == ['There is no member "missing": {{ l.missing }} (lines row 1) [expression]']


def test_page_values_are_refused_outside_page_time() -> None:
    assert any("page-value-outside-page-time" in p for p in problems("<p>{{ page.number }}</p>"))


def test_names_that_are_always_there() -> None:
    flow = (
        "<p>{{ data.now }} {{ today }} {{ now | time('HH:mm') }} {{ doc.lang }} {{ doc.draft }}</p>"
    )
    assert texts(flow, {"now": "mine"}, timezone="Europe/Berlin", lang="de") == [
        "mine 2026-11-22 00:30 de false"
    ]


@pytest.mark.parametrize(("code", "digits"), [("EUR", "2"), ("JPY", "0"), ("KWD", "3")])
def test_an_amount_has_the_digits_of_the_document_s_currency(code: str, digits: str) -> None:
    flow = "<p>{{ doc.currency_digits }} {{ [{}, {}] | sum('1.2345 | round(doc.currency_digits)') }}</p>"
    total = {"EUR": "2.46", "JPY": "2", "KWD": "2.470"}[code]
    assert texts(flow, currency=code) == [f"{digits} {total}"]
    assert texts(flow, {"c": code}, currency="{{ c }}") == [f"{digits} {total}"]


def test_formats_follow_the_nearest_language() -> None:
    flow = '<p>{{ 1.5 | number(2) }}</p><div lang="de"><p>{{ 1.5 | number(2) }} <span lang="en">{{ 1.5 | number(2) }}</span></p></div>'
    assert texts(flow) == ["1.50", "1,50 1.50"]


# --- blocks -----------------------------------------------------------------------------------------------


def test_headings_enter_the_outline_unless_they_opt_out() -> None:
    first, second = blocks('<h1>A <b>b</b><br/>c</h1><h2 outline="false">D</h2>')
    assert isinstance(first, Paragraph)
    assert isinstance(second, Paragraph)
    assert (first.role, first.outline) == (Role.H1, "A b c")
    assert second.outline is None


def test_lists_number_their_items_across_loops() -> None:
    flow = '<ol list-style-type="lower-roman" start="3"><li>x</li><group for="l in lines"><li>{{ l.t }}</li></group></ol>'
    (found,) = blocks(flow, LINES)
    assert isinstance(found, ListBlock)
    assert [item.marker for item in found.children] == ["iii.", "iv.", "v.", "vi."]


@pytest.mark.parametrize(
    ("kind", "start", "marker"),
    [("lower-alpha", 27, "aa."), ("upper-alpha", 26, "Z."), ("upper-roman", 1994, "MCMXCIV."),
     ("lower-roman", 0, "0."), ("decimal", -1, "-1.")],
)  # fmt: skip
def test_markers_count_as_css_does(kind: str, start: int, marker: str) -> None:
    (found,) = blocks(f'<ol list-style-type="{kind}" start="{start}"><li>x</li></ol>')
    assert isinstance(found, ListBlock)
    assert found.children[0].marker == marker


def test_figures_stand_as_blocks_or_in_lines() -> None:
    alone, within = blocks('<img src="logo" alt=""/><p>a <img src="logo" alt="L"/> b</p>')
    assert isinstance(alone, Image)
    assert alone.picture == ImageSource("logo")
    assert isinstance(within, Paragraph)
    assert isinstance(within.inlines[1], InlineBlock)


def test_data_image_is_decoded() -> None:
    (found,) = blocks('<img src="data:image/png;base64,aGk=" alt=""/>')
    assert isinstance(found, Image)
    assert found.picture == ImageSource(b"hi")


def test_barcode_value_keeps_a_record() -> None:
    flow = '<barcode type="epc-qr" value="{{ {\'name\': n, \'amount\': 1 + 1} }}" alt=""/>'
    (found,) = blocks(flow, {"n": "Ann"})
    assert isinstance(found, Barcode)
    assert dict(found.value) == {"name": "Ann", "amount": 2}  # type: ignore[call-overload]


def test_row_rule_and_break_carry_their_lengths() -> None:
    row, rule, jump = blocks(
        '<row gap="2mm" align-items="center"><p>a</p></row><hr border-top="2pt solid red"/><break need="30mm"/>'
    )
    assert isinstance(row, Row)
    assert (row.gap, row.align) == (mm(2), "center")
    assert isinstance(rule, Rule)
    assert rule.border.width == 2
    assert isinstance(jump, Break)
    assert jump.need == mm(30)


def test_ids_are_unique_and_links_lead_somewhere() -> None:
    reported = problems('<p id="a">x</p><p for="n in [1, 2]" id="b">y</p><p><a href="#c">z</a></p>')
    assert any('The id "b" is given twice' in problem for problem in reported)
    assert any('leads to "#c"' in problem for problem in reported)
    assert problems('<p id="a{{ 1 }}">x</p><p><a href="#a1">z</a></p>') == []


def test_inserted_flow_inherits_the_style_of_its_place() -> None:
    source = (
        '<document><flow><div font-size="7pt"><insert flow="n"/></div></flow>'
        '<flow name="n" color="red"><p>x</p></flow></document>'
    )
    (container,) = build_source(source).flows[0].blocks
    assert isinstance(container, Container)
    assert container.children[0].style.text.size == 7
    assert container.children[0].style.text.color.components == (1, 0, 0)


def test_flows_that_insert_each_other_are_refused() -> None:
    source = (
        '<document><flow><insert flow="a"/></flow><flow name="a"><insert flow="b"/></flow>'
        '<flow name="b"><insert flow="a"/></flow></document>'
    )
    assert any("The flows insert each other: body → a → b → a" in p for p in refused(source))


def test_failing_assertion_reports_its_message() -> None:
    flow = '<assert test="n > 5" message="n is {{ n }}"/><assert test="n > 5" severity="warning"/>'
    assert problems(flow, {"n": 3}) == [
        "n is 3 [assert]",
        "The condition does not hold: n > 5 [assert]",
    ]


# --- pages and the document ---------------------------------------------------------------------------------


def _in_box(header: RunningBox, values: PageValues) -> Sequence[Block]:
    (box,) = header.content.evaluate(values)
    assert isinstance(box, Container)
    return box.children


def test_header_is_evaluated_for_each_page() -> None:
    head = "<page><header><p>{{ page.number }}/{{ page.count }} {{ 'last' if page.last }}</p></header></page>"
    header = build("<p>x</p>", head=head).masters[0].header
    assert header is not None
    assert not header.content.is_static
    ((first,), (second,)) = (_in_box(header, page(number, 2)) for number in (1, 2))
    assert isinstance(first, Paragraph)
    assert isinstance(second, Paragraph)
    assert (text_of(first), text_of(second)) == ("1/2", "2/2 last")


def test_header_without_page_values_is_made_once() -> None:
    header = (
        build("<p>x</p>", {"n": 1}, head="<page><header><p>{{ n }}</p></header></page>")
        .masters[0]
        .header
    )
    assert header is not None
    assert header.content.is_static
    assert header.content.evaluate(page(1, 2)) is header.content.evaluate(page(2, 2))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<p>{{ rows | sum('n') }} {{ page.number }}</p>", "6 1"),
        ("<p>{{ rows | default([]) | count }} {{ page.number }}</p>", "3 1"),
        ("<p>{{ rows is defined }} {{ page.number }}</p>", "true 1"),
        ("<p>{{ gone | default('none') }} {{ page.number }}</p>", "none 1"),
        ("<p>{{ rows | sum('n * who.rate') }} {{ page.number }}</p>", "12 1"),
        ("<p>{{ data.who.name }} {{ page.number }}</p>", "Ann 1"),
        ('<p for="row in rows" if="row.n == 2">{{ row.n }} {{ page.number }}</p>', "2 1"),
        ('<p if="rows">{{ page.number }}</p>', "1"),
        ('<insert flow="aside"/>', "Ann"),
        ('<p><span class="{{ who.look }}">{{ page.number }}</span></p>', "1"),
    ],
)
def test_header_reads_the_lists_and_records_it_names(content: str, expected: str) -> None:
    data = {"rows": [{"n": 1}, {"n": 2}, {"n": 3}], "who": {"name": "Ann", "rate": 2, "look": "k"}}
    head = (
        f'<style name="k" color="red"/><page><header>{content}</header></page>'
        '<flow name="aside"><p>{{ who.name }}</p></flow>'
    )
    header = build("<p>x</p>", data, head=head).masters[0].header
    assert header is not None
    (paragraph,) = _in_box(header, page(1, 2))
    assert isinstance(paragraph, Paragraph)
    assert text_of(paragraph) == expected


def test_data_unused_by_page_content_are_released() -> None:
    rows, who = [{"n": 1}], {"name": "Ann"}
    names = {"rows": rows, "who": who, "n": 7, "totals": {}}
    scope = Scope(names, get_formats("en", None, "UTC"), BuildState(Findings()))
    assert keep_used(scope, {"who", "n"}).names == {"who": who, "n": 7, "totals": {}}


def test_header_with_a_condition_is_a_box_or_nothing() -> None:
    head = '<page><footer if="not page.last" padding="2mm"><p>more</p></footer></page>'
    footer = build("<p>x</p>", head=head).masters[0].footer
    assert footer is not None
    assert len(footer.content.evaluate(page(1, 2))) == 1
    assert footer.content.evaluate(page(2, 2)) == ()


def test_errors_of_page_content_are_found_without_pages() -> None:
    head = "<page><header><p>{{ page.nummer }}</p></header></page>"
    assert any("nummer" in problem for problem in problems("<p>x</p>", head=head))


def test_page_has_its_paper_and_margins() -> None:
    master = build(
        "<p>x</p>", head='<page size="A5 landscape" margin="10mm" margin-top="2cm"/>'
    ).masters[0]
    assert (round(master.width), round(master.height)) == (595, 420)
    assert master.margin == pytest.approx((mm(20), mm(10), mm(10), mm(10)))


def test_document_has_its_metadata() -> None:
    info = build(
        "<p>x</p>",
        {"n": "A/1"},
        title="Invoice  {{ n }}",
        author="Ann",
        filename="../{{ n }}.pdf",
        lang="de-AT",
    ).info
    assert (info.title, info.author, info.lang) == ("Invoice A/1", "Ann", "de-AT")
    assert info.filename == "-A-1.pdf"


def test_security_comes_from_data_and_is_left_out_of_drafts() -> None:
    source = document(
        "<p>x</p>", {"pw": "s3"}, head='<security user-password="{{ pw }}" copy="false"/>'
    )
    security = build_source(source).security
    assert security is not None
    assert (security.user_password, security.copy, security.fill_forms) == ("s3", False, True)
    assert "s3" not in repr(security)
    assert build_source(source, replace(OPTIONS, is_draft=True)).security is None


def test_empty_password_is_an_error_and_no_open_file() -> None:
    head = '<security user-password="{{ pw }}"/>'
    assert any(
        "empty-password" in p for p in refused(document("<p>x</p>", {"pw": None}, head=head))
    )


def test_watermark_is_built_if_its_condition_holds() -> None:
    head = '<watermark text="COPY {{ n }}" if="n > 1" layer="under" color="red"/>'
    (mark,) = build("<p>x</p>", {"n": 2}, head=head).watermarks
    assert (mark.text, mark.is_over, mark.size) == ("COPY 2", False, None)
    assert build("<p>x</p>", {"n": 1}, head=head).watermarks == ()


def test_equal_data_build_equal_documents() -> None:
    source = document("<p>{{ n }}</p><p>b</p>", {"n": 1})
    later = replace(OPTIONS, now=datetime(2030, 1, 1, tzinfo=UTC))
    assert texts("<p>{{ n }}</p>", {"n": 1}) == ["1"]
    assert [type(b) for b in build_source(source).flows[0].blocks] == [
        type(b) for b in build_source(source, later).flows[0].blocks
    ]


def test_break_in_a_line_keeps_the_style_around_it() -> None:
    (paragraph,) = blocks("<p>a<b><br/></b>b</p>")
    assert isinstance(paragraph, Paragraph)
    broken = paragraph.inlines[1]
    assert isinstance(broken, LineBreak)
    assert broken.style.weight == 700


@pytest.mark.parametrize(
    "flow",
    [
        '<p id="a">x</p>',
        '<p>x <b id="a">y</b></p>',
        'loose <span id="a">y</span>',
        '<div><span id="a"></span></div>',
        '<ul><li id="a">x</li></ul>',
        '<table><tr><td id="a">x</td></tr></table>',
        '<table><tr id="a"><td>x</td></tr></table>',
        '<group id="a"><p>x</p></group>',
        '<insert flow="n" id="a"/>',
    ],
)
def test_every_id_names_a_place_in_the_document(flow: str) -> None:
    body = f'<p><a href="#a">to it</a></p>{flow}'
    source = f'<document><flow>{body}</flow><flow name="n"><p>n</p></flow></document>'
    document = repr(build_source(source))
    assert "id='a'" in document or "InlineAnchor(name='a')" in document


@pytest.mark.parametrize(
    "flow",
    [
        '<group if="not"/>',
        '<ul><li>x</li><group if="not"/></ul>',
        '<table><tr><td>x</td></tr><group if="not"/></table>',
        '<table><tbody><tr><td>x</td><group if="not"/></tr></tbody></table>',
    ],
)
def test_an_empty_group_has_the_errors_of_its_condition(flow: str) -> None:
    assert "ends too early" in str(refused(document(flow)))


def test_group_passes_on_its_class_and_language() -> None:
    head = '<style name="red" color="red"/>'
    flow = '<group class="red" lang="de"><p>{{ 1.5 | number }}</p></group>'
    (found,) = blocks(flow, head=head)
    assert isinstance(found, Paragraph)
    assert (text_of(found), found.style.text.color.components) == ("1,5", (1, 0, 0))


def test_a_flow_that_nothing_inserts_may_hold_notes() -> None:
    built = build_source(
        '<document lang="en"><flow><p>Text</p></flow>'
        '<flow name="unused"><p>Text<footnote>A note</footnote></p></flow></document>'
    )
    assert built.footnotes is None


def test_the_numbers_of_all_ranges_are_bounded() -> None:
    flow = '<p for="n in range(300)">{{ range(10000) | count }}</p>'
    assert any("have more than 2,000,000 numbers" in each for each in refused(document(flow)))


def test_a_let_reads_the_day_in_the_time_zone_of_the_document() -> None:
    source = document("<p>{{ day }}</p>", timezone="Asia/Tokyo").replace(
        "</data>", '<let name="day" value="today"/></data>'
    )
    (paragraph,) = build_source(source).flows[0].blocks
    assert text_of(paragraph) == "2026-11-22"
