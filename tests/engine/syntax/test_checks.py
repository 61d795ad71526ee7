"""Findings about a tree before any data are known."""

from __future__ import annotations

import time

import pytest

from tests.engine.syntax.checked import check_tree
from workers.engine.diagnostics import Diagnostic, Severity
from workers.engine.syntax.checks import check_document
from workers.engine.syntax.parser import parse_document


def findings(source: str) -> list[Diagnostic]:
    return list(check_tree(parse_document(source.encode(), origin=None)))


def in_flow(content: str) -> list[Diagnostic]:
    return findings(f"<document><flow>{content}</flow></document>")


def only(found: list[Diagnostic]) -> Diagnostic:
    (finding,) = found
    return finding


def test_a_plain_document_has_no_findings():
    assert in_flow("<p>Hello <b>you</b></p>Loose text") == []


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [
        ("<para>x</para>", "unknown-element", "`para` is not an element"),
        ("<x:p/>", "unknown-element", "has a prefix"),
        ("<tr/>", "misplaced-element", "it is allowed in `table`, `thead`, `tbody`, `tfoot`"),
        ("<p><p/></p>", "misplaced-element", "`p` is not allowed in `p`"),
        ("<p fontsize='9pt'/>", "unknown-attribute", 'did you mean "font-size"?'),
        ("<p xml:lang='de'/>", "unknown-attribute", "no attribute `xml:lang`"),
        ("<br class='a'/>", "unknown-attribute", "takes none"),
        (
            "<table><tr><td margin='1mm'/></tr></table>",
            "unknown-attribute",
            "`margin` has no effect on `td`",
        ),
        ("<a>x</a>", "missing-attribute", "has no `href`"),
        (
            "<p font-size='9'/>",
            "wrong-value",
            '`font-size` of `p` is "9", accepted is a number with',
        ),
        ("<p text-align='centre'/>", "wrong-value", 'did you mean "center"?'),
        ("<p for='x on y'/>", "wrong-value", "name in expression"),
        ("<p if='{{ x }}'/>", "wrong-value", "written without braces"),
        ("<p class='none'/>", "unknown-style", 'The style "none"'),
        ("<p color='brnd'/>", "unknown-color", 'The colour "brnd"'),
        ("<p border='1pt solid brnd'/>", "unknown-color", 'The colour "brnd"'),
        ("<table stripe='white brnd'/>", "unknown-color", 'The colour "brnd"'),
        ("<insert flow='bdy'/>", "unknown-flow", 'did you mean "body"?'),
        ("<ul>text</ul>", "misplaced-text", "accepted is only `group`, `li`"),
        ("<hr>x</hr>", "misplaced-text", "accepted is nothing"),
        ("<p id='a'/><p id='a'/>", "duplicate-id", "already that of `p`"),
        ("<p id='a' for='x in y'/>", "duplicate-id", "repeats in each iteration"),
        ("<p font-family='Comic Sans'/>", "unknown-font", "neither declared nor installed"),
    ],
)
def test_each_mistake_has_its_finding(content: str, code: str, says: str):
    finding = only(in_flow(content))
    assert (finding.code, finding.severity) == (code, Severity.ERROR)
    assert says in finding.message


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("<img src='logo'/>", "missing-alt"),
        ("<table><tr><td>a<break/>b</td></tr></table>", "no-effect"),
        ("<p font-family='Comic Sans, Noto Sans'/>", "unknown-font"),
    ],
)
def test_a_renderable_mistake_is_a_warning(content: str, code: str):
    finding = only(in_flow(content))
    assert (finding.code, finding.severity) == (code, Severity.WARNING)


@pytest.mark.parametrize(
    "content",
    [
        "<p>a<footnote>b{}</footnote></p>",
        "<grid grid-template-columns='1fr'>{}</grid>",
        "<div height='5cm'><div>{}</div></div>",
        "<box height='1cm' width='5cm'>{}</box>",
        "</flow><page><header>{}</header></page><flow name='other'>",
    ],
)
def test_a_forced_break_is_a_warning_in_what_is_not_broken(content: str):
    for forced in ("<break/>", "<p break-after='left'>b</p>", "<p break-before='column'>b</p>"):
        assert only(in_flow(content.format(forced))).code == "no-effect"
    columns = "<div columns='2'><p break-before='column'>b</p><break to='column'/></div>"
    for idle in ("<p break-before='avoid'>b</p>", columns):
        assert not in_flow(content.format(idle))
    assert not in_flow("<div height='auto'><p>a</p><break/></div>")


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ("<style name='a'/><style name='a'/>", "duplicate-key"),
        ("<style element='p'/><style element='p'/>", "duplicate-key"),
        ("<color name='a' value='red'/><color name='a' value='red'/>", "duplicate-key"),
        ("<flow/><flow name='body'/>", "duplicate-key"),
        ("<page/><page/>", "duplicate-key"),
        ("<data/><data/>", "duplicate-key"),
        ("<data><json/><json/></data>", "duplicate-key"),
        ("<data><let name='a' value='1'/><field name='a'/></data>", "duplicate-key"),
        ("<style/>", "style-key"),
        ("<style name='a' element='p'/>", "style-key"),
        ("<style element='pp'/>", "unknown-element"),
        ("<style name='a' extends='b'/>", "unknown-style"),
        ("<style name='a' extends='a'/>", "style-circle"),
        ("<color name='brand' value='brand'/>", "wrong-value"),
        ("<style name='a' color='{{ x }}'/>", "fixed-attribute"),
        ("<security user-password='secret' copy='maybe'/>", "wrong-value"),
    ],
)
def test_declarations_are_checked(parts: str, code: str):
    assert only(findings(f"<document>{parts}</document>")).code == code


def test_a_cycle_of_styles_is_reported_at_each_of_them():
    found = findings(
        "<document><style name='a' extends='b'/><style name='b' extends='a'/></document>"
    )
    assert [finding.code for finding in found] == ["style-circle", "style-circle"]


def test_a_group_accepts_the_children_of_its_parent():
    assert in_flow("<ul><group for='x in y'><li>a</li></group></ul>") == []
    assert only(in_flow("<ul><group><p>a</p></group></ul>")).code == "misplaced-element"
    assert only(in_flow("<ul><group>text</group></ul>")).code == "misplaced-text"


def test_values_with_expressions_wait_for_the_data():
    assert in_flow("<p font-size='{{ x }}' class='{{ y }}' id='{{ z }}'/>") == []


def test_a_finding_has_the_exact_extent():
    finding = only(in_flow("\n<p colour='red'>x</p>"))
    assert finding.to_finding()["source"] == {
        "tagName": "p",
        "lineStart": 2,
        "lineEnd": 2,
        "columnStart": 1,
        "columnEnd": 22,
    }


def test_another_root_is_one_finding():
    assert only(findings("<html><body/></html>")).code == "root"


def test_all_mistakes_are_reported_at_once():
    assert len(in_flow("<a/><b x='1'/><c/>")) == 3


@pytest.mark.long
def test_a_text_full_of_mistakes_stays_cheap_and_bounded():
    source = f"<document><flow>{'<unknwn/>' * 20_000}</flow></document>"
    tree = parse_document(source.encode(), origin=None)
    assert tree.root is not None
    assert len(list(check_document(tree.root))) == 200


def test_a_long_chain_of_styles_is_checked_in_linear_time():
    styles = "".join(f"<style name='s{i}' extends='s{i + 1}'/>" for i in range(20_000))
    started = time.process_time()
    found = findings(f"<document>{styles}<style name='s20000'/></document>")
    assert found == []
    assert time.process_time() - started < 10


def test_styles_that_lead_to_a_circle_are_no_part_of_it():
    found = findings(
        "<document><style name='a' extends='b'/><style name='b' extends='c'/>"
        "<style name='c' extends='b'/></document>"
    )
    assert [finding.message.split('"')[1] for finding in found] == ["b", "c"]
