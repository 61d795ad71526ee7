"""Blocks of Markdown know the line they begin at; what is found in them is reported there."""

from __future__ import annotations

import gc
import time

import pytest

from workers.engine.diagnostics import Findings, Origin, SourceLocation, SourceSpan
from workers.engine.merge.markdown_reader import Slugs, locate_lines, make_slug, read_markdown
from workers.engine.syntax.nodes import Element

PLACE = SourceLocation("flow", SourceSpan(7, 3, 7, 9), Origin.TEMPLATE)


def lines_by_tag(text: str) -> list[tuple[str, int]]:
    nodes = read_markdown(text, PLACE, Findings(), lambda: locate_lines(text, Origin.PAYLOAD))
    return [
        (element.tag, element.location.span.line_start)
        for node in nodes
        if isinstance(node, Element)
        for element in node.walk()
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# a\n\nb\nc\n\n# d", [("h1", 1), ("p", 3), ("h1", 6)]),
        ("a\n===\n\nb\n---", [("h1", 1), ("h2", 4)]),
        ("\n\n> a\n>\n> b", [("blockquote", 3), ("p", 3), ("p", 5)]),
        ("a\nb **c**\n![d](logo)", [("p", 1), ("b", 2), ("img", 3)]),
        ("a  \nb *c*\\\n*d*", [("p", 1), ("br", 1), ("i", 2), ("br", 2), ("i", 3)]),
        ("- a\n\n  b\n- c\n- > d\n  > *e*", None),
        ("1.\n   a\n2. b", [("ol", 1), ("li", 2), ("li", 3)]),
        ("a\n\n    code\n\n```\ncode\n```\n***", [("p", 1), ("pre", 3), ("pre", 5), ("hr", 8)]),
        (
            "| a |\n|---|\n| b |\n| *c* |",
            [
                *(("table", 1), ("thead", 1), ("tr", 1), ("th", 1), ("tbody", 3)),
                *(("tr", 3), ("td", 3), ("tr", 4), ("td", 4), ("i", 4)),
            ],
        ),
        ("a[^1]\n\nb\n\n[^1]: *c*\n", [("p", 1), ("footnote", 5), ("i", 5), ("p", 3)]),
        ("a\r\n\r\nb\r\rc", [("p", 1), ("p", 3), ("p", 5)]),
    ],
)
def test_elements_are_at_their_lines(text, lines):
    if lines is None:
        lines = [("p", 1), ("p", 3), ("p", 4), ("blockquote", 5), ("p", 5), ("i", 6)]
        found = [line for line in lines_by_tag(text) if line[0] in ("p", "blockquote", "i")]
        assert found == lines
    else:
        assert lines_by_tag(text)[: len(lines)] == lines


def test_a_footnote_is_at_the_line_of_its_mark():
    text = "a[^1]\n\nb\n\n[^1]: *c*\n"
    assert lines_by_tag(text)[1:3] == [("footnote", 5), ("i", 5)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\nb <x>c</x>", 2),
        ("<!--\na\n--> <x>", 1),
        ("a <!-- b\nc --> d\n<x>", 1),
        ("- a\n- b\n  <x>", 3),
        ("a\n\n[b](javascript:c)", 3),
        ("| a |\n|---|\n| b |\n| <x> |", 4),
    ],
)
def test_a_warning_is_at_its_line(text, line):
    findings = Findings()
    read_markdown(text, PLACE, findings, lambda: locate_lines(text, Origin.PAYLOAD))
    first = next(iter(findings))
    assert first.location is not None
    assert (first.location.span.line_start, first.location.origin) == (line, Origin.PAYLOAD)
    assert first.location.tag_name == "flow"


def test_a_span_is_that_of_the_line_without_the_space_around_it():
    (first,) = read_markdown("  # a  ", PLACE, Findings(), lambda: locate_lines("  # a  ", None))
    assert isinstance(first, Element)
    assert first.location.span == SourceSpan(1, 3, 1, 6)


def test_without_lines_all_is_at_the_place_given():
    (first, _) = read_markdown("# a\n\nb", PLACE, Findings())
    assert isinstance(first, Element)
    assert first.location == PLACE


@pytest.mark.long
@pytest.mark.parametrize("unit", ["- a\n", "> a\n\n", "a\n\n", "# a\n", "1. a\n   - b\n", "* \n"])
def test_lines_are_counted_in_linear_time(unit):
    def seconds(times: int) -> float:
        text = unit * times
        gc.disable()  # a collection looks at all that other tests left
        started = time.process_time()
        read_markdown(text, PLACE, Findings(), lambda: locate_lines(text, None))
        took = time.process_time() - started
        gc.enable()
        return took

    seconds(200)
    assert seconds(4_000) < 24 * seconds(500) + 0.1  # in quadratic time it would be 64


# --- slugs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heading", "slug"),  # as github-slugger 2 writes them
    [
        ("Install", "install"),
        ("Getting started", "getting-started"),
        ("What's new?", "whats-new"),
        ("a  b", "a--b"),
        ("foo_bar - baz", "foo_bar---baz"),
        ("1. Über uns", "1-über-uns"),
        ("C++ & C#", "c--c"),
        ("日本語", "日本語"),
        ("Привет мир", "привет-мир"),
        ("emoji \U0001f600 here", "emoji--here"),
        ("v1.2.3", "v123"),
        ("a/b\\c", "abc"),
        ("½ ² ª µ", "--ª-µ"),
        ("Ⅷ ⓐ", "ⅷ-ⓐ"),
        ("!!!", ""),
    ],
)
def test_slugs_are_github_s(heading, slug):
    assert make_slug(heading) == slug


def test_repeated_slugs_are_numbered():
    slugs = Slugs()
    made = [slugs.add(text) for text in ("a", "a", "a-1", "a", "a-1", "b", "!")]
    assert made == ["a", "a-1", "a-1-1", "a-2", "a-1-2", "b", ""]


def test_many_equal_headings_cost_linear_time():
    slugs, started = Slugs(), time.process_time()
    for _ in range(100_000):
        slugs.add("a")
    assert time.process_time() - started < 2
