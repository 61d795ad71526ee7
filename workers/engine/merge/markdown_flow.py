"""Markdown becomes elements of the language: CommonMark with what GitHub adds, and footnotes."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import mistune
from mistune.inline_parser import InlineParser
from mistune.plugins import import_plugin

from workers.engine.diagnostics import Findings, Origin, Place, Span
from workers.engine.merge.json_data import FORBIDDEN_CHARACTERS
from workers.engine.merge.markdown_inlines import read_github_inlines
from workers.engine.merge.markdown_lines import FOOTNOTES, LINE, LineBlockParser
from workers.engine.merge.markdown_slugs import Slugs
from workers.engine.merge.markdown_tables import TableTooLargeError, read_tables
from workers.engine.syntax import values as v
from workers.engine.syntax.checks import shown
from workers.engine.syntax.encodings import position_after
from workers.engine.syntax.nodes import Element, MarkdownElement, Text

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 60
# mistune takes quadratic time over the marks of one paragraph: 2,000 cost 0.1 s, 20,000 ten.
# What this leaves is bounded by the render's time budget.
MAX_MARKS: Final = 2000

_NEWLINE: Final = re.compile(r"\r\n?|\n")
_MARKS: Final = re.compile(r"[*_~`]+|[\[\]]")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_BREAK_TAG: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)
# CommonMark 6.6, and what is left open to its end. Quoted values are bounded: a long text of open
# quotes would be searched to its end from each of them.
_TAG: Final = re.compile(
    r"""<!---?>|<!--(?>.*?(?:-->|\Z))|<\?(?>.*?(?:\?>|\Z))"""
    r"""|<!\[CDATA\[(?>.*?(?:\]\]>|\Z))|<![A-Za-z][^<>]*+>"""
    r"""|</?[A-Za-z][A-Za-z0-9-]*+(?:[^<>"']|"[^"]{0,300}+"|'[^']{0,300}+'|(?!))*+>""",
    re.DOTALL,
)

_Node = Element | Text
_Token = Mapping[str, Any]


class MarkdownError(Exception):
    """The text is too large, too deep or not text that a document may hold."""


@dataclass(frozen=True, slots=True)
class MarkdownLines:
    """Where each line of a Markdown text stands in the text that was sent."""

    spans: Sequence[Span]
    origin: Origin | None


def lines_of(text: str, origin: Origin | None) -> MarkdownLines:
    """Return the lines of a text that was sent as it is."""
    return MarkdownLines(
        [span_of(line, number) for number, line in enumerate(_NEWLINE.split(text), start=1)],
        origin,
    )


def span_of(line: str, number: int, column: int = 1) -> Span:
    """Return the extent of a line without the space around it; it begins at a column."""
    start = column + len(line) - len(line.lstrip())
    return Span(number, start, number, start + max(len(line.strip()), 1))


def read_markdown(
    text: str, place: Place, findings: Findings, lines: MarkdownLines | None = None
) -> list[_Node]:
    """Read Markdown as blocks of the language, all literal: `{{ }}` in it is text.

    Each node is at its line of `lines`, or all of them at `place`. Headings have an `id`.

    Of raw HTML `<br>` breaks the line; other tags are dropped with a warning, the text between them
    stays. So do links and images that the language does not accept.

    Raises:
        MarkdownError: over 1 MB, nested too deeply, over 2,000 marks in a paragraph, or with
            control characters.
    """
    if len(text.encode()) > MAX_BYTES:
        raise MarkdownError(f"the text is larger than {MAX_BYTES} bytes, the most that is accepted")
    forbidden = FORBIDDEN_CHARACTERS.search(text)
    if forbidden:
        line, column = position_after(text[: forbidden.start()])
        raise MarkdownError(
            f"line {line}, column {column} holds the character U+{ord(forbidden[0]):04X}, which no "
            "document may hold"
        )
    try:
        tokens, state = _PARSER.parse(text)
        reader = _Reader(place, findings, lines, state.env.get(FOOTNOTES, {}))
        return reader.read(cast("list[_Token]", tokens))
    except TableTooLargeError as error:
        raise MarkdownError(str(error)) from None
    except RecursionError:
        raise _too_deep() from None


class _BoundedInline(InlineParser):
    """mistune's reader of inline text, for texts it reads in bearable time."""

    def __call__(self, s: str, env: MutableMapping[str, Any]) -> list[dict[str, Any]]:
        if len(s) > MAX_MARKS:
            marks = sum(1 for _ in _MARKS.finditer(s))
            if marks > MAX_MARKS:
                raise MarkdownError(
                    f'the paragraph "{shown(s)}" has {marks} marks such as * and [, accepted are at '
                    f"most {MAX_MARKS}"
                )
        result: list[dict[str, Any]] = super().__call__(s, env)
        return result


def _make_parser() -> mistune.Markdown:
    names = ("strikethrough", "task_lists", "footnotes")
    plugins: list[Any] = [read_tables, read_github_inlines, *map(import_plugin, names)]
    inline = _BoundedInline()
    block = LineBlockParser(max_nested_level=inline.max_nested_level)
    return mistune.Markdown(renderer=None, block=block, inline=inline, plugins=plugins)


_PARSER: Final = _make_parser()


def _too_deep() -> MarkdownError:
    return MarkdownError("quotes, lists or marks are nested too deeply")


class _Reader:
    """Turns the token tree of one text into elements."""

    def __init__(
        self,
        place: Place,
        findings: Findings,
        lines: MarkdownLines | None,
        footnotes: Mapping[str, int],
    ) -> None:
        self._place = place
        self._findings = findings
        self._lines = lines
        self._footnote_lines = footnotes
        self._line: int | None = 0
        self._depth = 0
        self._slugs = Slugs()
        self._links: list[MarkdownElement] = []
        self._blocks: Mapping[str, Callable[[_Token], Iterator[_Node]]] = {
            "paragraph": self._paragraph,
            "block_text": self._loose_text,
            "heading": self._heading,
            "list": self._list,
            "block_quote": self._quote,
            "block_code": self._code_block,
            "block_html": self._html_block,
            "thematic_break": self._rule,
            "table": self._table,
            "footnotes": self._footnotes,
        }
        self._inlines: Mapping[str, Callable[[_Token], Iterator[_Node]]] = {
            "text": self._text,
            "emphasis": lambda token: self._marked("i", token),
            "strong": lambda token: self._marked("b", token),
            "strikethrough": lambda token: self._marked("s", token),
            "codespan": self._code,
            "linebreak": self._line_break,
            "softbreak": lambda _: iter((self._literal("\n"),)),
            "link": self._link,
            "image": self._image,
            "inline_html": self._inline_html,
            "footnote_ref": self._footnote_mark,
        }

    def read(self, tokens: list[_Token]) -> list[_Node]:
        """Read a whole text."""
        nodes = list(self.blocks(tokens))
        for link in self._links:
            link.fragment = self._slugs.find(link.fragment)
        return nodes

    def blocks(self, tokens: list[_Token]) -> Iterator[_Node]:
        """Walk the blocks of a token list, as elements."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _too_deep()
        for token in tokens:
            if token["type"] != "blank_line":
                self._line = token.get(LINE, self._line)
                yield from self._blocks[token["type"]](token)
        self._depth -= 1

    def inlines(self, tokens: list[_Token]) -> Iterator[_Node]:
        """Walk the inline content of a token list, as elements and text."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _too_deep()
        for token in tokens:
            yield from self._inlines[token["type"]](token)
        self._depth -= 1

    def _element(
        self, tag: str, children: Iterator[_Node] | None = None, **attributes: str
    ) -> MarkdownElement:
        named = {name.replace("_", "-"): value for name, value in attributes.items()}
        place = self._place_of(tag)  # before its children, which go on to other lines
        return MarkdownElement(tag, named, place, list(children or ()), is_literal=True)

    def _place_of(self, tag: str) -> Place:
        """Return the place of an element that begins in the line at hand."""
        if self._lines is None or not self._lines.spans or self._line is None:
            return self._place
        span = self._lines.spans[min(self._line, len(self._lines.spans) - 1)]
        return Place(tag, span, self._lines.origin)

    def _literal(self, text: str) -> Text:
        span = self._place_of("").span
        if self._line is not None and "\n" in text:
            self._line += text.count("\n")
        return Text(text, span.line_start, span.column_start, is_literal=True)

    # --- blocks -------------------------------------------------------------------------------------

    def _paragraph(self, token: _Token) -> Iterator[_Node]:
        yield self._element("p", self.inlines(token["children"]))

    def _loose_text(self, token: _Token) -> Iterator[_Node]:
        yield from self.inlines(token["children"])

    def _heading(self, token: _Token) -> Iterator[_Node]:
        heading = self._element(f"h{token['attrs']['level']}", self.inlines(token["children"]))
        heading.slug = self._slugs.add(_text_of(heading))
        yield heading

    def _list(self, token: _Token) -> Iterator[_Node]:
        items = (self._item(item) for item in token["children"])
        if not token["attrs"]["ordered"]:
            yield self._element("ul", items)
            return
        start = min(token["attrs"].get("start", 1), 999_999)
        yield self._element("ol", items, start=str(start))

    def _item(self, token: _Token) -> Element:
        self._line = next((t[LINE] for t in token["children"] if LINE in t), self._line)
        content = self.blocks(token["children"])
        if token["type"] != "task_list_item":
            return self._element("li", content)
        return self._element("li", content, checked=str(token["attrs"]["checked"]).lower())

    def _quote(self, token: _Token) -> Iterator[_Node]:
        yield self._element("blockquote", self.blocks(token["children"]))

    def _code_block(self, token: _Token) -> Iterator[_Node]:
        yield self._element("pre", iter((self._literal(token["raw"].removesuffix("\n")),)))

    def _rule(self, _: _Token) -> Iterator[_Node]:
        yield self._element("hr")

    def _table(self, token: _Token) -> Iterator[_Node]:
        yield self._element("table", self._sections(token["children"]))

    def _sections(self, tokens: Sequence[_Token]) -> Iterator[_Node]:
        head, *bodies = tokens
        first = self._line or 0
        yield self._element("thead", (self._row(row, first) for row in (head,)))
        for body in bodies:
            self._line = first + 2
            rows = enumerate(body["children"], first + 2)
            yield self._element("tbody", (self._row(row, line) for line, row in rows))

    def _row(self, token: _Token, line: int) -> Element:
        self._line = line
        return self._element("tr", (self._cell(cell) for cell in token["children"]))

    def _cell(self, token: _Token) -> Element:
        attrs = token["attrs"]
        content = self.inlines(token["children"])
        tag = "th" if attrs["head"] else "td"
        if not attrs["align"]:
            return self._element(tag, content)
        return self._element(tag, content, text_align=attrs["align"])

    def _footnotes(self, token: _Token) -> Iterator[_Node]:
        yield self._element("hr")
        items = (self._footnote(item) for item in token["children"])
        yield self._element("ol", items, font_size="85%")

    def _footnote(self, token: _Token) -> Element:
        """Read a footnote: all of it is at the line of its mark, which alone is known."""
        self._line = self._footnote_lines.get(token["attrs"]["key"])
        lines = self._lines
        if lines is not None and self._line is not None:
            at = lines.spans[min(self._line, len(lines.spans) - 1) :][:1]
            self._lines = MarkdownLines(at, lines.origin)
        item = self._item(token)
        self._lines = lines
        return item

    def _html_block(self, token: _Token) -> Iterator[_Node]:
        content = list(self._without_tags(token["raw"]))
        if any(isinstance(node, Element) or node.text.strip() for node in content):
            yield self._element("p", iter(content))

    # --- inline content -----------------------------------------------------------------------------

    def _text(self, token: _Token) -> Iterator[_Node]:
        yield self._literal(_unescape(token["raw"]))

    def _marked(self, tag: str, token: _Token) -> Iterator[_Node]:
        yield self._element(tag, self.inlines(token["children"]))

    def _code(self, token: _Token) -> Iterator[_Node]:
        yield self._element("code", iter((self._literal(token["raw"]),)))

    def _line_break(self, _: _Token) -> Iterator[_Node]:
        yield self._element("br")
        if self._line is not None:
            self._line += 1

    def _link(self, token: _Token) -> Iterator[_Node]:
        address = _unescape(token["attrs"]["url"])
        if address.startswith("#") and len(address) > 1:
            yield self._fragment_link(address, token)
            return
        try:
            target = v.LINK.parse(address)
        except ValueError as error:
            self._warn("link", f'The link to "{shown(token["attrs"]["url"])}"', str(error))
            yield from self.inlines(token["children"])
        else:
            yield self._element("a", self.inlines(token["children"]), href=target)

    def _fragment_link(self, address: str, token: _Token) -> Element:
        try:
            href = v.LINK.parse(address)
        except ValueError:
            href = "#_"  # the fragment says where it leads, of which the language accepts less
        link = self._element("a", self.inlines(token["children"]), href=href)
        link.fragment = address[1:]
        self._links.append(link)
        return link

    def _image(self, token: _Token) -> Iterator[_Node]:
        source, alt = token["attrs"]["url"], _plain(token["children"])
        try:
            v.IMAGE.parse(source)
        except ValueError as error:
            self._warn("image", f'The image "{shown(source)}"', str(error))
            yield self._literal(alt)
        else:
            yield self._element("img", src=source, alt=alt)

    def _inline_html(self, token: _Token) -> Iterator[_Node]:
        yield from self._without_tags(token["raw"])

    def _footnote_mark(self, token: _Token) -> Iterator[_Node]:
        yield self._element("sup", iter((self._literal(str(token["attrs"]["index"])),)))

    def _without_tags(self, raw: str) -> Iterator[_Node]:
        """Give raw HTML as text, with its line breaks; of all other tags only a warning stays."""
        position = 0
        for tag in _TAG.finditer(raw):
            if tag.start() > position:
                yield self._literal(_unescape(raw[position : tag.start()]))
            position = tag.end()
            if _BREAK_TAG.fullmatch(tag[0]):
                yield self._element("br")
            else:
                self._warn("html", f'The HTML tag "{shown(tag[0])}"', "<br>; its text stays")
            if self._line is not None:
                self._line += tag[0].count("\n")
        if position < len(raw):
            yield self._literal(_unescape(raw[position:]))

    def _warn(self, code: str, what: str, accepts: str) -> None:
        self._findings.warn(
            f"markdown-{code}",
            f"{what} in the Markdown is left out, accepted is {accepts}",
            self._place_of(self._place.tag_name),
        )


def _unescape(text: str) -> str:
    """Replace entities, as CommonMark 6.4 does; control characters made by them are dropped."""
    if "&" not in text:
        return text
    plain = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    return FORBIDDEN_CHARACTERS.sub("", plain)


def _text_of(element: Element) -> str:
    """Return the text in an element and in those in it."""
    return "".join(
        child.text if isinstance(child, Text) else _text_of(child) for child in element.children
    )


def _plain(tokens: list[_Token]) -> str:
    """Give the text of inline tokens without their marks, for `alt`."""
    return "".join(
        _plain(token["children"]) if "children" in token else _unescape(token.get("raw", " "))
        for token in tokens
    )
