"""Completion and hover: what is allowed at a cursor, marked by | in these texts."""

from __future__ import annotations

import pytest

from workers.engine.assist import complete, hover
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.expressions.filters import FILTERS


def words(marked):
    offset = marked.index("¦")
    return [each.label for each in complete(marked.replace("¦", ""), offset)]


def hover_text(marked):
    offset = marked.index("¦")
    found = hover(marked.replace("¦", ""), offset)
    return None if found is None else found.text


@pytest.mark.parametrize(
    ("text", "some", "none"),
    [
        ("<¦", ["document"], ["p"]),
        ("<document><¦", ["flow", "page", "data", "/document"], ["p", "tr", "document"]),
        ("<document><flow><¦", ["p", "table", "h1", "/flow"], ["tr", "flow"]),
        ("<document><flow><p>a</p><table><¦", ["tr", "thead", "col"], ["p"]),
        ("<document><flow><table><group><¦", ["tr"], ["p"]),
        ("<document><flow><t¦", ["table", "toc"], ["p", "/flow"]),
        ("<document><!-- <table> --><flow><![CDATA[<table>]]><¦", ["p"], ["tr"]),
        ("<document><flow><p/><hr><¦", [], ["p"]),
    ],
)
def test_elements_are_those_that_may_stand_there(text, some, none):
    found = words(text)
    assert set(some) <= set(found)
    assert not set(none) & set(found)


def test_the_end_of_the_open_element_is_offered():
    assert words("<document><flow></¦") == ["/flow"]
    [end] = complete("<document><flow></", 18)
    assert end.insert_text == "flow>"


def test_attributes_are_those_of_the_element_that_it_does_not_have_yet():
    found = words('<document><flow><p color="red" ¦')
    assert "font-size" in found
    assert "color" not in found
    assert words("<document><flow><table stri¦") == ["stripe"]
    assert words("<document><flow><para ¦") == []


def test_values_are_the_words_of_the_attribute():
    assert "center" in words('<document><flow><p text-align="¦')
    assert words('<document><flow><p text-align="cen¦"') == ["center"]
    assert words("<document><flow><p text-align='cen¦") == ["center"]
    assert words('<document><flow><p nope="¦') == []


def test_filters_are_offered_in_expressions_alone():
    assert "currency" in words("<document><flow><p>{{ a | cur¦")
    assert words("<document><flow><p>{{ a }} | cur¦") == []
    assert "sum" in words('<document><data><let name="a" value="rows | s¦')


def test_hover_describes_elements_attributes_and_filters():
    assert hover_text("<document><flow><tab¦le>").startswith("**table**: ")
    assert hover_text("<document><flow></ta¦ble>").startswith("**table**: ")
    assert hover_text('<document><flow><p text-al¦ign="end">').startswith("**text-align**: ")
    assert "currency" in hover_text("<p>{{ a | curr¦ency }}</p>")
    assert hover_text("<document><flow><p>table¦</p>") is None
    assert hover_text('<document><flow><p class="tab¦le">') is None
    assert hover_text("<document><flow><pa¦ra>") is None


def test_every_element_and_filter_has_something_to_say():
    for name in ELEMENTS:
        assert hover(f"<{name}>", 1).text.startswith(f"**{name}**")
    for name in FILTERS:
        assert hover(f"<p>{{{{ a | {name} }}}}</p>", 10) is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<",
        "</",
        "<!",
        "<!--",
        "<![CDATA[",
        "<a b='",
        '<a b="<c>',
        "a > b",
        "</x></y>",
        "{{ <",
        "<<<",
    ],
)
def test_a_broken_text_raises_nothing(text):
    for offset in range(len(text) + 1):
        complete(text, offset)
        hover(text, offset)


def test_a_long_text_takes_linear_time():
    for piece in ("<", "<a ", "<a b='", "</a>", "{{ ", "<!-- ", "<a b='c'"):
        text = piece * (200_000 // len(piece))
        complete(text, len(text))
