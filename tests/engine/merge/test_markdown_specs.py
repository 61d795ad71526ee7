"""The examples of CommonMark and GitHub's Markdown become what their HTML says, as elements.

Blocks, marks and text are compared. What differs is listed, each with its reason.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from workers.engine.diagnostics import Findings, SourceLocation, SourceSpan
from workers.engine.merge.markdown_reader import read_markdown
from workers.engine.syntax import values
from workers.engine.syntax.nodes import Element, Text

SPECS = Path(__file__).parent / "specs"
PLACE = SourceLocation("flow", SourceSpan(1, 1, 1, 8))
LEAST_SHARE = 0.98

_TARGET = "a target with < and > in it is read as a link; the text is the same but for the target"
_SCHEME = "schemes are written in lowercase (RFC 3986, 6.2.2.1)"
_BARE = "a bare address is a link, as in GitHub's extension of autolinks"

# Example number by specification: why the result is another one.
EXCEPTIONS = {
    "commonmark-0.31.2": {494: _TARGET, 597: _SCHEME, **dict.fromkeys((608, 611, 612), _BARE)},
    "gfm-0.29": {
        503: _TARGET,
        605: _SCHEME,
        **dict.fromkeys((616, 619, 620), _BARE),
        652: "GitHub shows some tags of raw HTML as text; here all tags go, with a warning",
    },
}
# Of raw HTML only the text stays, so only that is compared.
RAW = {"HTML blocks", "Raw HTML", "Disallowed Raw HTML"}
WITH_RAW = {"Code spans", "Emphasis and strong emphasis", "Hard line breaks"}
NAMES = {"strong": "b", "em": "i", "del": "s"}
COMPARED = {
    *("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "pre", "blockquote", "hr", "br"),
    *("table", "thead", "tbody", "tr", "th", "td", "b", "i", "s", "code", "a"),
}
EMPTY = {"br", "hr"}
HTML_TAG = re.compile(
    r"<!---?>|<!--.*?-->|<\?.*?\?>|<!\[CDATA\[.*?\]\]>|<![A-Z][^>]*>"
    r"|</?[A-Za-z][\w-]*(?:\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?)*\s*/?>",
    re.DOTALL,
)


def examples(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((SPECS / f"{name}.json").read_text())
    return loaded


@pytest.mark.parametrize(("name", "count"), [("commonmark-0.31.2", 652), ("gfm-0.29", 672)])
def test_examples_have_the_text_of_their_html(name: str, count: int):
    different = {
        example["example"]: reported for example in examples(name) if (reported := judge(example))
    }
    assert different.keys() == EXCEPTIONS[name].keys(), different
    assert len(examples(name)) == count
    assert len(different) <= count * (1 - LEAST_SHARE)


def judge(example: dict[str, Any]) -> str:
    """Return the difference of an example, empty if there is none."""
    nodes = read_markdown(example["markdown"], PLACE, Findings())
    has_tags = example["section"] in WITH_RAW and HTML_TAG.search(example["markdown"])
    if has_tags or example["section"] in RAW:
        ours, theirs = words("".join(texts(nodes))), words(text_of(example["html"]))
    else:
        ours, theirs = "".join(outline(nodes)), outline_of(example["html"])
    return "" if ours == theirs else f"{example['markdown']!r}: {ours} instead of {theirs}"


def words(text: str) -> str:
    return "".join(text.split())


# --- ours -----------------------------------------------------------------------------------------------


def texts(nodes: list[Element | Text]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, Text):
            yield node.text
        else:
            yield node.attributes.get("alt", "")
            yield from texts(node.children)


def outline(nodes: list[Element | Text], around: str = "") -> Iterator[str]:
    """Write elements and text, white space away outside of code."""
    for node in nodes:
        if isinstance(node, Text):
            yield node.text if around == "pre" else words(node.text)
        elif node.tag == "img":
            yield words(node.attributes["alt"])
        elif node.tag == around == "b":  # GitHub takes strong in strong for one
            yield from outline(node.children, around)
        else:
            shown = [
                f" {name}={value}"
                for name, value in sorted(node.attributes.items())
                if name in ("href", "start", "text-align", "checked") and value != "1"
            ]
            yield f"<{node.tag}{''.join(shown)}>"
            yield from outline(node.children, node.tag)
            yield f"</{node.tag}>"


# --- theirs ---------------------------------------------------------------------------------------------


def text_of(written: str) -> str:
    """Return the text of HTML, with the alternatives of its images."""
    with_alt = re.sub(r'<img src="[^"]*" alt="([^"]*)"[^>]*/>', r"\1", written)
    return html.unescape(HTML_TAG.sub("", with_alt))


def outline_of(written: str) -> str:
    reader = _Outline()
    reader.feed(written)
    reader.close()
    return "".join(reader.parts)


class _Outline(HTMLParser):
    """Writes HTML as `outline` writes elements."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = NAMES.get(tag, tag)
        if tag == "img":
            self.parts.append(words(given.get("alt") or ""))
        elif tag == "input":
            self._check(is_checked="checked" in given)
        elif name in EMPTY:
            self.parts.append(f"<{name}></{name}>")
        elif name in COMPARED:
            self._open(name, given)

    def _check(self, *, is_checked: bool) -> None:
        """Turn the box that HTML has in a list item into an attribute of the item."""
        at = max(at for at, part in enumerate(self.parts) if part.startswith("<li"))
        self.parts[at] = f"<li checked={str(is_checked).lower()}>"

    def _open(self, name: str, given: dict[str, str | None]) -> None:
        around = self.open[-1] if self.open else ""
        around = around.strip("(")
        is_part = (name == "code" and around == "pre") or name == around == "b"
        href = given.get("href") or ""
        if name == "a" and not is_address(href):
            is_part = True  # a link that leads nowhere in a PDF is its text
        self.open.append(around if is_part else name)
        if is_part:
            self.open[-1] = f"({around}"
            return
        shown = f" href={href}" if name == "a" else ""
        shown += f" start={given['start']}" if "start" in given else ""
        shown += f" text-align={given['align']}" if "align" in given else ""
        self.parts.append(f"<{name}{shown}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        name = NAMES.get(tag, tag)
        if name not in COMPARED or name in EMPTY:
            return
        closed = self.open.pop()
        if not closed.startswith("("):
            self.parts.append(f"</{closed}>")

    def handle_data(self, data: str) -> None:
        is_code = any(name.strip("(") == "pre" for name in self.open)
        # The line end after <pre><code> and before </code></pre> is HTML's, not the text's.
        self.parts.append(data.removesuffix("\n") if is_code else words(data))


def is_address(href: str) -> bool:
    try:
        values.LINK.parse(href)
    except ValueError:
        return False
    return True
