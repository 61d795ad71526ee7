"""A suggestion leads to what was meant, or there is none."""

from __future__ import annotations

import random
import time

import pytest

from tests.engine.syntax.checked import check_tree
from workers.engine.syntax.parser import parse_document
from workers.engine.syntax.suggestions import find_nearest
from workers.engine.syntax.vocabulary import ELEMENTS


@pytest.mark.parametrize(
    ("word", "right"),
    [
        *(
            ("tabel", "table"),
            ("tabl", "table"),
            ("imgs", "img"),
            ("P", "p"),
            ("pp", "p"),
            ("Table", "table"),
        ),
        *(
            ("barcod", "barcode"),
            ("block-quote", "blockquote"),
            ("watermrak", "watermark"),
            ("fotter", "footer"),
        ),
        *(("heder", "header"), ("markdwon", "markdown"), ("divv", "div"), ("documnet", "document")),
    ],
)
def test_similar_names_are_suggested(word, right):
    assert find_nearest(word, ELEMENTS) == right


@pytest.mark.parametrize(
    "word",
    [
        *("sidenote", "para", "h7", "tx", "head", "text", "main", "svg", "title", "center"),
        *("", "x", "article", "diagram", "iframe", "script", "a" * 41, "漢", "abcdefghijklmnop"),
    ],
)
def test_dissimilar_names_are_not_suggested(word):
    assert find_nearest(word, ELEMENTS.keys() - {"thead", "part"}) is None


def reported(content: str) -> str:
    source = f"<document><flow>{content}</flow></document>"
    (finding,) = check_tree(parse_document(source.encode(), origin=None))
    return finding.message


@pytest.mark.parametrize(
    ("content", "end"),
    [
        ("<p>a<sidenote>b</sidenote></p>", "is not an element of the language"),
        ("<sidenote>b</sidenote>", "is not an element of the language"),
        ("<para>b</para>", 'did you mean "p"?'),
        ("<p><strong>b</strong></p>", 'did you mean "b"?'),
        ("<image/>", 'did you mean "img"?'),
        ("<table><tr><cell>a</cell></tr></table>", 'did you mean "td"?'),
        ("<cell>a</cell>", "is not an element of the language"),
        ("<foter/>", "is not an element of the language"),  # a footer is of a page
        ("<p><tabel/></p>", "is not an element of the language"),  # nor is a table of a line
        ("<tabel/>", 'did you mean "table"?'),
    ],
)
def test_only_allowed_names_are_suggested(content, end):
    assert reported(content).endswith(end)


def test_a_footer_is_suggested_where_one_may_stand():
    source = b"<document><page><foter><p>a</p></foter></page><flow/></document>"
    (finding,) = check_tree(parse_document(source, origin=None))
    assert finding.message.endswith('did you mean "footer"?')


@pytest.mark.parametrize("written", ["fontSize", "font_size", "fontsize", "FONT-SIZE", "font-szie"])
def test_attributes_are_known_in_other_spellings(written):
    assert reported(f"<p {written}='9pt'/>").endswith('did you mean "font-size"?')


@pytest.mark.long
def test_many_long_names_cost_little():
    words = ["".join(random.Random(i).choices("ab", k=40)) for i in range(20_000)]
    started = time.process_time()
    for word in words[:50]:
        find_nearest(word[::-1], words)
    assert time.process_time() - started < 10
