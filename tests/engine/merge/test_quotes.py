"""Straight quotes of Markdown become those of the language; code keeps its own."""

from __future__ import annotations

import pypdfium2
import pytest

from tests.engine.merge.test_markdown_reader import PLACE, outline
from tests.golden.case import OPTIONS
from workers.engine.diagnostics import Findings
from workers.engine.merge.markdown_reader import read_markdown
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Resources


@pytest.mark.parametrize(
    ("lang", "text", "printed"),
    [
        ("en", """He said "it's 'fine'".""", "He said “it’s ‘fine’”."),
        ("en-GB", '"\'Hi\' to all" ("all")', "“‘Hi’ to all” (“all”)"),
        ("de", "\"Hans' Auto\" und 'das', wie's ist", "„Hans’ Auto“ und ‚das‘, wie’s ist"),
        ("de-CH", '"so"', "«so»"),
        ("fr", """l'un dit "oui".""", "l’un dit «\u202foui\u202f»."),
        ("ar", "\"so 'it'\"", "”so ’it‘“"),
        ("fa-IR", "\"so 'it'\"", "«so ‹it›»"),
        ("is", "\"so 'it'\"", "„so ‚it‘“"),
        ("xx", '"so"', "“so”"),
        ("en", "in the '90s, a 5\" pipe of 6' 2\"", 'in the ’90s, a 5" pipe of 6\' 2"'),
        ("en", '"**bold**" and *"so"*', "“<b>bold</b>” and <i>“so”</i>"),
        ("en", '`"code"`, &quot;kept&quot;', '<code>"code"</code>, "kept"'),
        ("en", '"two\nlines"', "“two\nlines”"),
        ("en", '[a "b"](https://a.example "title")', "<a href=https://a.example>a “b”</a>"),
    ],
)
def test_quotes_are_those_of_the_language(lang, text, printed):
    assert outline(read_markdown(text, PLACE, Findings(), quotes=lang)) == f"<p>{printed}</p>"


def test_each_block_and_cell_opens_its_own_quotes():
    text = 'an "open one\n\n- "item"\n\n| "a" | "b\n|-|-|\n| "c" | "d" |\n\n    "code"\n'
    printed = outline(read_markdown(text, PLACE, Findings(), quotes="en"))
    assert [printed.count(mark) for mark in '“”"'] == [6, 4, 2]


def test_a_footnote_is_no_part_of_the_quote_that_calls_it():
    text = 'a "text[^1]" ends\n\n[^1]: its "note\n'
    printed = outline(read_markdown(text, PLACE, Findings(), quotes="en"))
    assert [printed.count(mark) for mark in '“”"'] == [2, 1, 0]


@pytest.mark.parametrize("content", ['>"{{ a }}" isn\'t', " value='text'>"])
def test_the_language_is_that_of_the_element_in_each_document(content):
    template = prepare_template(
        '<document lang=\'{{ lang }}\'><data><json>{"a": "\\"x\\"", "lang": "de", '
        '"text": "\\"so\\" isn\'t"}</json></data>'
        f"<flow><markdown quotes='typographic'{content}</markdown>"
        f"<div lang='fr'><markdown quotes='typographic'{content}</markdown></div></flow></document>".encode()
    )
    for _ in range(2):
        result = render(template, None, options=OPTIONS, resources=Resources())
        with pypdfium2.PdfDocument(result.pdf) as document:
            lines = document[0].get_textpage().get_text_range().split("\r\n")
        inner = '"x"' if "{{" in content else "so"
        assert [line.replace("\xa0", "\u202f") for line in lines] == [
            f"„{inner}“ isn’t",
            f"«\u202f{inner}\u202f» isn’t",
        ]
