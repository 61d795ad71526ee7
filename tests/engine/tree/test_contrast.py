"""Text that differs too little from its background is found where both colours are known."""

from __future__ import annotations

import pytest

from tests.golden.case import OPTIONS
from workers.engine.pipeline import render, validate
from workers.engine.ports import Payload, PayloadKind
from workers.engine.tree.accessibility import contrast_ratio
from workers.engine.units import rgb_from_hex

LIGHT = '<p color="#aaaaaa">a</p>'


def payload(flow: str, page: str = "", attributes: str = "") -> Payload:
    source = f'<document title="t" lang="en" {attributes}>{page}<flow>{flow}</flow></document>'
    return Payload(PayloadKind.XML, source.encode())


def warned(flow: str, page: str = "", attributes: str = "") -> int:
    found = validate(None, payload(flow, page, attributes), options=OPTIONS)
    assert not found.errors
    return sum(one.code == "low-contrast" for one in found.warnings)


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [("000000", "ffffff", 21.0), ("ffffff", "ffffff", 1.0), ("777777", "ffffff", 4.48)],
)
def test_the_ratio_is_that_of_wcag(first: str, second: str, ratio: float):
    for pair in ((first, second), (second, first)):
        assert contrast_ratio(*map(rgb_from_hex, pair)) == pytest.approx(ratio, abs=0.005)


@pytest.mark.parametrize(
    ("flow", "page", "count"),
    [
        (LIGHT, "", 1),
        (LIGHT, '<page background="#000000"/>', 0),
        ("<p>a</p>", '<page background="#222222"/>', 1),
        ('<p color="#aaaaaa" font-size="18pt">a</p>', "", 1),
        ('<p color="#8c8c8c" font-size="18pt">a</p>', "", 0),
        ('<p color="#8c8c8c" font-size="14pt">a</p>', "", 1),
        ('<p color="#8c8c8c" font-size="14pt" font-weight="bold">a</p>', "", 0),
        ('<p>a <span color="#aaaaaa">b</span></p>', "", 1),
        ('<p>a <span color="#aaaaaa" background="black">b</span></p>', "", 0),
        ('<p color="#aaaaaa"> </p>', "", 0),
        ("<p for='n in range(1, 9)' color='#aaaaaa'>{{ n }}</p>", "", 1),
        (f"<ul><li>{LIGHT}</li></ul>", "", 1),
        ("<table><caption color='#aaaaaa'>b</caption><tr><td>a</td></tr></table>", "", 1),
        ("<table><tr><td color='#aaaaaa'>a</td><td><p color='#aaaaaa'>b</p></td></tr></table>", "", 2),
        ('<p>a<footnote color="#aaaaaa">b</footnote></p>', "", 1),
        ("<table stripe='#000000 #ffffff'><tr><td>a</td></tr></table>", "", 0),
        (f'<box left="0" top="0" width="9mm" height="9mm">{LIGHT}</box>', "", 0),
        (f'<div opacity="0.5">{LIGHT}</div>', "", 0),
        (LIGHT, '<page><box left="0" top="0" width="9mm" height="9mm" background="black"/></page>', 0),
        (LIGHT, f"<page><footer>{LIGHT}</footer></page>", 1),
    ],
)  # fmt: skip
def test_text_is_compared_with_what_it_stands_on(flow: str, page: str, count: int):
    assert warned(flow, page) == count


def test_an_untagged_document_is_not_looked_at():
    assert warned(LIGHT, attributes='tagged="false"') == 0


@pytest.mark.parametrize(
    ("attributes", "codes"),
    [("", []), ('tagged="true"', ["low-contrast"]), ('profile="pdf/ua-1"', ["low-contrast"])],
)
def test_a_render_warns_where_tags_are_asked_for(attributes: str, codes: list[str]):
    rendered = render(None, payload(LIGHT, attributes=attributes), options=OPTIONS)
    assert [one.code for one in rendered.warnings] == codes
