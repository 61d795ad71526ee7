"""Markdown as elements of the language; hostile Markdown is a finding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.merge.documents import Outcome, merge, template
from workers.engine.diagnostics import Findings, Place, Severity, Span
from workers.engine.merge.markdown_flow import MarkdownError, read_markdown
from workers.engine.ports import PayloadKind
from workers.engine.syntax.checks import check_document
from workers.engine.syntax.nodes import Element, Text

PLACE = Place("flow", Span(1, 1, 1, 8))


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
        ("- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"),
        ("- [x] a\n- [ ] b", "<ul><li>[x] a</li><li>[ ] b</li></ul>"),
        ("> a", "<blockquote><p>a</p></blockquote>"),
        ("```\na  b\n```", "<pre>a  b</pre>"),
        ("---", "<hr></hr>"),
        ("[a](https://b.c)", "<p><a href=https://b.c>a</a></p>"),
        ("https://b.c", "<p><a href=https://b.c>https://b.c</a></p>"),
        ("![an *image*](logo)", "<p><img src=logo alt=an image></img></p>"),
        ("&amp; &copy; &#65; &nope;", "<p>& © A &nope;</p>"),
        ("{{ x }}", "<p>{{ x }}</p>"),
        ("`&lt;`", "<p><code>&lt;</code></p>"),
        (
            "| a | b |\n|---|--:|\n| 1 | 2 |",
            (
                "<table><thead><tr><th>a</th><th text-align=right>b</th></tr></thead>"
                "<tbody><tr><td>1</td><td text-align=right>2</td></tr></tbody></table>"
            ),
        ),
        (
            "a[^1]\n\n[^1]: note",
            "<p>a<sup>1</sup></p><hr></hr><ol font-size=85%><li><p>note</p></li></ol>",
        ),
    ],
)
def test_each_construct_has_its_element(markdown: str, elements: str):
    assert read(markdown) == (elements, [])


@pytest.mark.parametrize(
    ("markdown", "elements", "code"),
    [
        ("a <i>b</i>", "<p>a b</p>", "markdown-html"),
        ("<div>\na<br>b\n</div>", "<p>\na<br></br>b\n\n</p>", "markdown-html"),
        ("<!-- secret -->", "", "markdown-html"),
        ("[a](javascript:b)", "<p>a</p>", "markdown-link"),
        ("[a](file:///etc/passwd)", "<p>a</p>", "markdown-link"),
        ("![a](/etc/passwd)", "<p>a</p>", "markdown-image"),
        ("![a](ftp://b.c/d.png)", "<p>a</p>", "markdown-image"),
    ],
)
def test_what_is_not_accepted_leaves_its_text_and_a_warning(
    markdown: str, elements: str, code: str
):
    written, codes = read(markdown)
    assert written == elements
    assert set(codes) == {code}


@pytest.mark.parametrize(
    ("markdown", "says"),
    [
        ("x" * (1024 * 1024 + 1), "larger than 1048576 bytes"),
        ("*a **a " * 2000 + "b" + " a** a*" * 2000, "accepted are at most 2000"),
        ("&]*_***" * 4000, "accepted are at most 2000"),
        ("a\0b", "U+0000"),
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
    assert outcome.only.place is not None


def test_a_refusal_points_at_the_flow():
    outcome = send("a\x07b")
    assert outcome.only.code == "markdown"
    assert outcome.only.place is not None
    assert outcome.only.place.tag_name == "flow"
