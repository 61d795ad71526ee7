"""Markdown as elements of the language; hostile Markdown is a finding."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.merge.documents import Outcome, merge, template
from workers.engine.diagnostics import Findings, Severity, SourceLocation, SourceSpan
from workers.engine.merge.markdown_reader import MarkdownError, read_markdown
from workers.engine.ports import PayloadKind
from workers.engine.syntax.checks import check_document
from workers.engine.syntax.nodes import Element, Text

PLACE = SourceLocation("flow", SourceSpan(1, 1, 1, 8))


def outline(nodes: list[Element | Text]) -> str:
    """Write nodes as short XML."""
    return "".join(_write(node) for node in nodes)


def _write(node: Element | Text) -> str:
    assert node.is_literal
    if isinstance(node, Text):
        return node.text
    attributes = "".join(f" {name}={value}" for name, value in node.attributes.items())
    return f"<{node.tag}{attributes}>{outline(node.children)}</{node.tag}>"


def read(text: str) -> tuple[str, list[str]]:
    findings = Findings()
    nodes = read_markdown(text, PLACE, findings)
    assert findings.errors == ()
    return outline(nodes), [finding.code for finding in findings]


@pytest.mark.parametrize(
    ("markdown", "elements"),
    [
        ("# A *b*", "<h1>A <i>b</i></h1>"),
        ("a **b** ~~c~~ `d`", "<p>a <b>b</b> <s>c</s> <code>d</code></p>"),
        ("a\\\nb<br>c<BR/>d", "<p>a<br></br>b<br></br>c<br></br>d</p>"),
        ("a\nb", "<p>a\nb</p>"),
        ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
        ("3. a\n4. b", "<ol start=3><li>a</li><li>b</li></ol>"),
        ("999999999. a", "<ol start=999999999><li>a</li></ol>"),
        ("- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"),
        ("- [x] a\n- [ ] b", "<ul><li checked=true>a</li><li checked=false>b</li></ul>"),
        ("1. [X] a", "<ol start=1><li checked=true>a</li></ol>"),
        ("- [ ] a\n\n  b", "<ul><li checked=false><p>a</p><p>b</p></li></ul>"),
        ("- [x]a", "<ul><li>[x]a</li></ul>"),
        ("> a", "<blockquote><p>a</p></blockquote>"),
        ("```\na  b\n```", "<pre>a  b</pre>"),
        ("---", "<hr></hr>"),
        ("[a](https://b.c)", "<p><a href=https://b.c>a</a></p>"),
        ("https://b.c", "<p><a href=https://b.c>https://b.c</a></p>"),
        ("![an *image*](logo)", "<p><img src=logo alt=an image></img></p>"),
        ("&amp; &copy; &#65; &nope;", "<p>& © A &nope;</p>"),
        ("~a~ b~c", "<p><s>a</s> b~c</p>"),
        ("www.b.c/(d)).", "<p><a href=http://www.b.c/(d)>www.b.c/(d)</a>).</p>"),
        ("*https://b.c*, x", "<p><i><a href=https://b.c>https://b.c</a></i>, x</p>"),
        ("a.b@c.d. e@f_", "<p><a href=mailto:a.b@c.d>a.b@c.d</a>. e@f_</p>"),
        ("[www.a.b](https://c.d)", "<p><a href=https://c.d>www.a.b</a></p>"),
        ("WWW.a.b", "<p><a href=http://WWW.a.b>WWW.a.b</a></p>"),
        ("HTTPS://a.b/C", "<p><a href=https://a.b/C>HTTPS://a.b/C</a></p>"),
        ("<HTTPS://a.b>", "<p><a href=https://a.b>HTTPS://a.b</a></p>"),
        ("m<sup>2</sup> H<SUB>2</SUB>O", "<p>m<sup>2</sup> H<sub>2</sub>O</p>"),
        ('<u>a <strong class="x">b</strong></u>', "<p><u>a <b>b</b></u></p>"),
        ("<ins>a</ins> <del>b</del> <kbd>c</kbd>", "<p><u>a</u> <s>b</s> <code>c</code></p>"),
        ("a ~~~~b~~~~ ~~~c~~~", "<p>a ~~~~b~~~~ ~~~c~~~</p>"),
        ("> [!note]\n> a\n> b", "<div><p><span></span></p><p>a\nb</p></div>"),
        ("> [!TIP]\n>\n> - a", "<div><p><span></span></p><ul><li>a</li></ul></div>"),
        ("> [!NOTE] a", "<blockquote><p>[!NOTE] a</p></blockquote>"),
        ("> [!OTHER]\n> a", "<blockquote><p>[!OTHER]\na</p></blockquote>"),
        ("xwww.a.b ftp://a.b www.a", "<p>xwww.a.b ftp://a.b <a href=http://www.a>www.a</a></p>"),
        ("{{ x }}", "<p>{{ x }}</p>"),
        ("`&lt;`", "<p><code>&lt;</code></p>"),
        (
            "| a | b |\n|---|--:|\n| 1 | 2 |",
            (
                "<table><thead><tr><th>a</th><th text-align=right>b</th></tr></thead>"
                "<tbody><tr><td>1</td><td text-align=right>2</td></tr></tbody></table>"
            ),
        ),
        ("a[^1]\n\n[^1]: note", "<p>a<footnote>note</footnote></p>"),
    ],
)
def test_each_construct_has_its_element(markdown: str, elements: str):
    assert read(markdown) == (elements, [])


@pytest.mark.parametrize(
    "text", ["from $5 to $6", "US$5 and A$6", "$HOME and $PATH", "5$ or 6$", "$$5"]
)
def test_amounts_in_dollars_are_no_formulas(text: str):
    assert read(text) == (f"<p>{text}</p>", [])


@pytest.mark.parametrize(
    ("markdown", "elements", "code"),
    [
        ("a <q>b</q>", "<p>a b</p>", "markdown-html"),
        ("so $a^2$ is", "<p>so $a^2$ is</p>", "markdown-formula"),
        ("$$\n2 + n\n$$", "<p>$$\n2 + n\n$$</p>", "markdown-formula"),
        ("a <i>b", "<p>a b</p>", "markdown-html"),
        ("*a <i>b* c</i>", "<p><i>a b</i> c</p>", "markdown-html"),
        ("<div>\na<br>b\n</div>", "<p>\na<br></br>b\n\n</p>", "markdown-html"),
        ("<!-- secret -->", "", "markdown-html"),
        ("[a](javascript:b)", "<p>a</p>", "markdown-link"),
        ("[a](file:///etc/passwd)", "<p>a</p>", "markdown-link"),
        ("![a](/etc/passwd)", "<p>a</p>", "markdown-image"),
        ("![a](ftp://b.c/d.png)", "<p>a</p>", "markdown-image"),
    ],
)
def test_unsupported_markup_leaves_its_text_and_a_warning(markdown: str, elements: str, code: str):
    written, codes = read(markdown)
    assert written == elements
    assert set(codes) == {code}


@pytest.mark.long
@pytest.mark.parametrize(
    ("markdown", "says"),
    [
        ("x" * (1024 * 1024 + 1), "larger than the limit of 1048576 bytes"),
        ("*a **a " * 2000 + "b" + " a** a*" * 2000, "accepted are at most 2000"),
        ("&]*_***" * 4000, "accepted are at most 2000"),
        ("|a" * 201 + "|\n" + "|-" * 201 + "|", "201 columns, accepted are at most 200"),
        ("|a" * 200 + "|\n" + "|-" * 200 + "|\n" + "a\n" * 600, "more than 100,000 cells"),
    ],
)
def test_hostile_markdown_is_refused(markdown: str, says: str):
    with pytest.raises(MarkdownError) as caught:
        read_markdown(markdown, PLACE, Findings())
    assert says in str(caught.value)


@pytest.mark.parametrize("unit", ["\n- \n\n> !", "> ", "- ", "[", "![", "**a ", "[^", "<", "`"])
def test_repeated_marks_end_in_elements_or_a_refusal(unit: str):
    try:
        read_markdown(unit * 1500, PLACE, Findings())
    except MarkdownError as error:
        assert error.args[0]  # noqa: PT017 — every refusal says why


def rows(markdown: str) -> list[list[str]]:
    """Read one table, as the texts of its cells."""
    (table,) = read_markdown(markdown, PLACE, Findings())
    assert isinstance(table, Element)
    return [
        [outline(cell.children) for cell in row.elements()]
        for row in table.walk()
        if row.tag == "tr"
    ]


@pytest.mark.parametrize(
    ("markdown", "cells"),
    [
        ("a | b\n-|-\n1 | 2", [["a", "b"], ["1", "2"]]),
        ("| a | b |\n:-: | --:\n1 | 2 |", [["a", "b"], ["1", "2"]]),
        ("|a|b|\n|-|-|\n|1|\n|1|2|3|", [["a", "b"], ["1", ""], ["1", "2"]]),
        ("|a|\n|-|\n|b\\|c `d\\|e`|", [["a"], ["b|c <code>d|e</code>"]]),
        ("|a|\n|-|\nno bar", [["a"], ["no bar"]]),
        ("|a|\n|-|", [["a"]]),
        ("|a\\\\|b|\n|-|-|", [["a\\", "b"]]),
    ],
)
def test_tables_are_read_as_github_does(markdown: str, cells: list[list[str]]):
    assert rows(markdown) == cells


@pytest.mark.parametrize(
    ("markdown", "written"),
    [
        (
            "text\n|a|\n|-|\n\nmore",
            "<p>text</p><table><thead><tr><th>a</th></tr></thead></table><p>more</p>",
        ),
        ("|a|\n|-|\n# b", "<table><thead><tr><th>a</th></tr></thead></table><h1>b</h1>"),
        ("|a|b|\n|-|", "<p>|a|b|\n|-|</p>"),
        (
            "> |a|\n> |-|",
            "<blockquote><table><thead><tr><th>a</th></tr></thead></table></blockquote>",
        ),
        ("- |a|\n  |-|", "<ul><li><table><thead><tr><th>a</th></tr></thead></table></li></ul>"),
    ],
)
def test_tables_stand_where_blocks_do(markdown: str, written: str):
    assert read(markdown) == (written, [])


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<a title='x > y'>b</a>", "b"),
        ("a < b > c", "a < b > c"),
        ("<?php echo 1 > 2 ?>b", "b"),
        ("<![CDATA[x > y]]>b", "b"),
        ("<!-->b", "b"),
        ("<!DOCTYPE html>b", "b"),
    ],
)
def test_tags_go_and_text_stays(html: str, text: str):
    written, _ = read(f"<div>\n{html}\n</div>")
    assert " ".join(written.removeprefix("<p>").removesuffix("</p>").split()) == text


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        *("~a " * 1900, "www.a " * 20_000, "www.a" + "&a;" * 100_000, "www.a" + ")" * 300_000),
        *("a." * 100_000 + "@b", "a@" + "b." * 100_000 + "_", "<div>\n" + '<a "' * 60_000),
        *(
            "<div>\n" + "<?" * 100_000,
            "<div>\n" + "<!a" * 100_000,
            "|a" * 100_000,
            "a|\n" + "-|" * 99_000,
        ),
        *("-|-\n" * 5000, "|a\n|-\n" * 5000),
    ],
)
def test_repeated_units_take_no_quadratic_time(text: str):
    begin = time.process_time()
    try:
        read_markdown(text, PLACE, Findings())
    except MarkdownError as error:
        assert str(error)  # noqa: PT017 - a refusal is an answer too
    assert time.process_time() - begin < 5  # each takes well under a second on an idle machine


@given(st.text(alphabet="ab*_`~[]()<>!#-+|\n :&;{}\\1.^", max_size=80))
def test_whatever_is_read_is_a_valid_flow(markdown: str):
    flow = Element("flow", {}, PLACE, list(read_markdown(markdown, PLACE, Findings())))
    root = Element("document", {}, PLACE, [flow])
    errors = [f for f in check_document(root) if f.severity is Severity.ERROR]
    assert errors == []


LETTER = '<document><flow><p>Old</p><insert flow="notes"/></flow><flow name="notes"/>{}</document>'


def send(body: str, flow: str | None = None, more: str = "") -> Outcome:
    return merge(template(LETTER.format(more)), body, PayloadKind.MARKDOWN, flow=flow)


def test_markdown_replaces_the_children_of_the_flow_it_names():
    outcome = send("New", "notes")
    assert outcome.merged is not None
    body, notes = outcome.merged.root.elements("flow")
    assert body.find("p") is not None
    assert outline(notes.children) == "<p>New</p>"
    assert notes.attributes == {"name": "notes"}


def test_the_flow_is_body_unless_named():
    outcome = send("New")
    assert outcome.merged is not None
    assert outline(next(outcome.merged.root.elements("flow")).children) == "<p>New</p>"


def test_the_template_itself_stays_as_it_is():
    source = template(LETTER.format(""))
    merge(source, "New", PayloadKind.MARKDOWN)
    again = merge(source)
    assert again.merged is not None
    assert again.merged.root is source.root
    assert next(again.merged.root.elements("flow")).find("p") is not None


def test_an_unknown_flow_lists_the_flows():
    message = send("x", "note").only.message
    assert (
        message
        == 'The template has no flow "note"; its flows are body, notes; did you mean "notes"?'
    )


@pytest.mark.parametrize("attribute", ['replace="deny"', 'final="true"'])
def test_a_flow_may_refuse(attribute: str):
    outcome = send("x", "terms", f'<flow name="terms" {attribute}/>')
    assert outcome.only.code == "final"
    assert outcome.only.location is not None


def test_a_refusal_points_at_the_flow():
    outcome = send("*" * 2001 + "a *" * 2001)
    assert outcome.only.code == "markdown"
    assert outcome.only.location is not None
    assert outcome.only.location.tag_name == "flow"
