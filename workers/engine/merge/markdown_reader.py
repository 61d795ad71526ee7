"""Conversion of Markdown to elements: CommonMark, GitHub's extensions, and footnotes."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast
from urllib.parse import unquote

import mistune
from mistune.core import BlockState
from mistune.plugins import import_plugin

from workers.engine.characters import NOT_XML
from workers.engine.diagnostics import Findings, Origin, SourceLocation, SourceSpan
from workers.engine.merge.markdown_inlines import (
    FOOTNOTES,
    LINE,
    TableTooLargeError,
    github_inlines_plugin,
    lines_plugin,
    tables_plugin,
)
from workers.engine.merge.quotes import QuotationMarks
from workers.engine.syntax import values as v
from workers.engine.syntax.checks import shorten_text
from workers.engine.syntax.encodings import FORBIDDEN_CODE, drop_forbidden
from workers.engine.syntax.nodes import ALERTS, Element, MarkdownElement, Text

# Symbols with the property Other_Alphabetic: circled and squared letters.
_SIGNED_LETTERS: Final = (
    (0x24B6, 0x24E9),
    (0x1F130, 0x1F149),
    (0x1F150, 0x1F169),
    (0x1F170, 0x1F189),
)
_SLUG_CATEGORIES: Final = frozenset(
    {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"}
)


class Slugs:
    """The slugs of one text; repeated ones get `-1`, `-2` and so on (github-slugger 2)."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def add(self, heading: str) -> str:
        """Return a unique slug for a heading, empty if the heading has no letter, mark or digit."""
        plain = slug = make_slug(heading)
        if not plain:
            return ""
        while slug in self._taken:
            self._taken[plain] += 1
            slug = f"{plain}-{self._taken[plain]}"
        self._taken[slug] = 0
        return slug

    def find(self, fragment: str) -> str:
        """Return the id that a link's fragment names, in lower case if only that exists."""
        name = unquote(fragment)
        return name.lower() if name not in self._taken and name.lower() in self._taken else name


def make_slug(heading: str) -> str:
    """Return a text in lower case with `-` for spaces, and only letters, marks, digits, `-` and `_`."""
    kept = (char for char in heading.lower() if char in "- " or _is_kept(char))
    return "".join(kept).replace(" ", "-")


@lru_cache(maxsize=1024)
def _is_kept(char: str) -> bool:
    if unicodedata.category(char) in _SLUG_CATEGORIES:
        return True
    return any(first <= ord(char) <= last for first, last in _SIGNED_LETTERS)


MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 60
# mistune takes quadratic time in the marks of a paragraph: 0.1 s for 2,000, 10 s for 20,000. The time
# limit of a render bounds what this limit allows.
MAX_MARKS: Final = 2000

_NEWLINE: Final = re.compile(r"\r\n?|\n")
_MARKS: Final = re.compile(r"[*_~`]+|[\[\]]")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# HTML's inline elements without attributes that the language has, by tag.
_PAIRED: Final[Mapping[str, str]] = {
    **{tag: tag for tag in ("sup", "sub", "u", "b", "i", "s", "code")},
    "ins": "u",
    "strong": "b",
    "em": "i",
    "del": "s",
    "strike": "s",
    "kbd": "code",
}
_PAIRED_TAG: Final = re.compile(rf"<(/?)({'|'.join(_PAIRED)})(?:\s[^<>]*)?>", re.IGNORECASE)
_ACCEPTED_TAGS: Final = (
    "<br>, and <sup>, <sub>, <u>, <b>, <i>, <s> and <code> in pairs; its text stays"
)
_ALERT: Final = re.compile(rf"\s*\[!({'|'.join(ALERTS)})\]\s*", re.IGNORECASE)
_LINE_ENDS: Final = ("softbreak", "linebreak")
_BREAK_TAG: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)
# CommonMark 6.6, with unclosed constructs up to the end of the text. Quoted values are bounded, as
# many unclosed quotes would take quadratic time.
_TAG: Final = re.compile(
    r"""<!---?>|<!--(?>.*?(?:-->|\Z))|<\?(?>.*?(?:\?>|\Z))"""
    r"""|<!\[CDATA\[(?>.*?(?:\]\]>|\Z))|<![A-Za-z][^<>]*+>"""
    r"""|</?[A-Za-z][A-Za-z0-9-]*+(?:[^<>"']|"[^"]{0,300}+"|'[^']{0,300}+'|(?!))*+>""",
    re.DOTALL,
)

# GitHub's mathematics: amounts such as "$5 to $6" are none, since a space is before the second sign.
_FORMULA: Final = re.compile(
    r"\$\$[^$\n]{1,500}\$\$|\A\$\$[^$\d]{0,500}\Z"  # or the first of its lines
    r"|(?<![\w$\\])\$(?=\S)[^$\n]{1,500}(?<=[^\s\\])\$(?![\w$])"
)

_Node = Element | Text
_Token = Mapping[str, Any]


class MarkdownError(Exception):
    """The text is too large or nested too deeply."""


@dataclass(frozen=True, slots=True)
class MarkdownLines:
    """The source span of each line of a Markdown text."""

    spans: Sequence[SourceSpan]
    origin: Origin | None


def locate_lines(text: str, origin: Origin | None) -> MarkdownLines:
    """Return the lines of a text that is a whole payload."""
    return MarkdownLines(
        [line_span(line, number) for number, line in enumerate(_NEWLINE.split(text), start=1)],
        origin,
    )


def line_span(line: str, number: int, column: int = 1) -> SourceSpan:
    """Return the span of a line that starts at a column, without surrounding white space."""
    start = column + len(line) - len(line.lstrip())
    return SourceSpan(number, start, number, start + max(len(line.strip()), 1))


def read_markdown(
    text: str,
    location: SourceLocation,
    findings: Findings,
    find_lines: Callable[[], MarkdownLines] = lambda: MarkdownLines((), None),
    *,
    quotes: str = "",
) -> list[_Node]:
    """Convert Markdown to literal elements, in which `{{ }}` is text.

    Straight quotes become those of the language `quotes`, if it is given, but in code.

    Each node has the location of its line, or where none is found `location`. Headings have an `id`.

    Raw HTML `<br>` is a line break; other tags, and links and images that the language does not
    accept, are dropped with a warning, and their text is kept. So are control characters.

    Raises:
        MarkdownError: the text is larger than 1 MB, nested too deeply, or has more than 2,000 marks
            in a paragraph.
    """
    if len(text.encode()) > MAX_BYTES:
        raise MarkdownError(f"the text is larger than the limit of {MAX_BYTES} bytes")
    text = drop_forbidden(
        text, lambda what, _: findings.warn(FORBIDDEN_CODE, f"Markdown {what}", location)
    )
    try:
        tokens, state = _PARSER.parse(text)
        reader = _ElementBuilder(
            location, findings, find_lines(), state.env.get(FOOTNOTES, {}), quotes
        )
        return reader.read(cast("list[_Token]", tokens))
    except TableTooLargeError as error:
        raise MarkdownError(str(error)) from None
    except RecursionError:
        raise _too_deep() from None


def _bounds_plugin(markdown: mistune.Markdown) -> None:
    """Register with mistune, as its plug-in, a limit on the marks of a paragraph, or of a footnote."""
    markdown.before_render_hooks.append(_check_marks)


def _check_marks(_: mistune.Markdown, state: BlockState) -> None:
    for text in (*_texts_of(state.tokens), *state.env.get("ref_footnotes", {}).values()):
        marks = sum(1 for _ in _MARKS.finditer(text)) if len(text) > MAX_MARKS else 0
        if marks > MAX_MARKS:
            raise MarkdownError(
                f'the paragraph "{shorten_text(text)}" has {marks} marks such as * and [, accepted are at '
                f"most {MAX_MARKS}"
            )


def _texts_of(tokens: Iterable[_Token]) -> Iterator[str]:
    for token in tokens:
        yield token.get("text", "")
        yield from _texts_of(token.get("children", ()))


def _make_parser() -> mistune.Markdown:
    names = ("strikethrough", "task_lists", "footnotes")
    own = (lines_plugin, _bounds_plugin, tables_plugin, github_inlines_plugin)
    plugins: list[Any] = [*own, *map(import_plugin, names)]
    return mistune.Markdown(renderer=None, plugins=plugins)


_PARSER: Final = _make_parser()


def _too_deep() -> MarkdownError:
    return MarkdownError("quotes, lists or marks are nested too deeply")


class _ElementBuilder:
    """Builds elements from mistune's tokens of one text."""

    def __init__(
        self,
        location: SourceLocation,
        findings: Findings,
        lines: MarkdownLines,
        footnotes: Mapping[str, int],
        quotes: str,
    ) -> None:
        self._quotes = quotes
        self._marks: QuotationMarks | None = None
        self._location = location
        self._findings = findings
        self._lines = lines
        self._footnote_lines = footnotes
        self._notes: dict[str, _Token] = {}  # notes without a reference so far
        self._called: set[str] = set()
        self._is_in_note = False
        self._line: int | None = 0
        self._depth = 0
        self._slugs = Slugs()
        self._links: list[MarkdownElement] = []
        self._blocks: Mapping[str, Callable[[_Token], Iterator[_Node]]] = {
            "paragraph": self._paragraph,
            "block_text": self._tight_text,
            "heading": self._heading,
            "list": self._list,
            "block_quote": self._quote,
            "block_code": self._code_block,
            "block_html": self._html_block,
            "thematic_break": self._rule,
            "table": self._table,
            "footnotes": lambda _: iter(()),  # built at their first reference
        }
        self._inlines: Mapping[str, Callable[[_Token], Iterator[_Node]]] = {
            "text": self._text,
            "emphasis": lambda token: self._inline_element("i", token),
            "strong": lambda token: self._inline_element("b", token),
            "strikethrough": lambda token: self._inline_element("s", token),
            "codespan": self._code,
            "linebreak": self._line_break,
            "softbreak": self._soft_break,
            "link": self._link,
            "image": self._image,
            "inline_html": self._inline_html,
            "footnote_ref": self._footnote_reference,
        }

    def read(self, tokens: list[_Token]) -> list[_Node]:
        """Return the elements of a whole text."""
        for token in tokens:
            if token["type"] == "footnotes":
                self._notes |= {note["attrs"]["key"]: note for note in token["children"]}
        nodes = list(self.blocks(tokens))
        for link in self._links:
            link.fragment = self._slugs.find(link.fragment)
        return nodes

    def blocks(self, tokens: list[_Token]) -> Iterator[_Node]:
        """Yield the elements of block tokens."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _too_deep()
        outer = self._marks  # of the text that calls a footnote
        for token in tokens:
            if token["type"] != "blank_line":
                self._line = token.get(LINE, self._line)
                self._begin_text()
                yield from self._blocks[token["type"]](token)
        self._marks = outer
        self._depth -= 1

    def _begin_text(self) -> None:
        self._marks = QuotationMarks(self._quotes) if self._quotes else None

    def inlines(self, tokens: list[_Token]) -> Iterator[_Node]:
        """Yield the elements and texts of inline tokens."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _too_deep()
        ends = _pair_tags(tokens)
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if (end := ends.get(position)) is not None:
                inner = self.inlines(tokens[position + 1 : end])
                yield self._element(_find_tag(token)[1], inner)
                position = end
            else:
                yield from self._inlines[token["type"]](token)
            position += 1
        self._depth -= 1

    def _element(
        self, tag: str, children: Iterator[_Node] | None = None, **attributes: str
    ) -> MarkdownElement:
        named = {name.replace("_", "-"): value for name, value in attributes.items()}
        location = self._locate(tag)  # before the children are built, which advances the line
        return MarkdownElement(tag, named, location, list(children or ()), is_literal=True)

    def _locate(self, tag: str) -> SourceLocation:
        """Return the location of an element that starts on the current line."""
        if not self._lines.spans or self._line is None:
            return self._location
        span = self._lines.spans[min(self._line, len(self._lines.spans) - 1)]
        return SourceLocation(tag, span, self._lines.origin)

    def _literal(self, text: str) -> Text:
        span = self._locate("").span
        if self._line is not None and "\n" in text:
            self._line += text.count("\n")
        return Text(text, span.line_start, span.column_start, is_literal=True)

    # --- blocks -------------------------------------------------------------------------------------

    def _paragraph(self, token: _Token) -> Iterator[_Node]:
        yield self._element("p", self.inlines(token["children"]))

    def _tight_text(self, token: _Token) -> Iterator[_Node]:
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
        yield self._element("ol", items, start=str(token["attrs"].get("start", 1)))

    def _item(self, token: _Token) -> Element:
        self._line = next((t[LINE] for t in token["children"] if LINE in t), self._line)
        content = self.blocks(token["children"])
        if token["type"] != "task_list_item":
            return self._element("li", content)
        return self._element("li", content, checked=str(token["attrs"]["checked"]).lower())

    def _quote(self, token: _Token) -> Iterator[_Node]:
        kind, content = _split_alert(token["children"])
        if not kind:
            yield self._element("blockquote", self.blocks(content))
            return
        box = self._element("div", self._alert(kind, content))
        box.styles = ("alert", f"alert-{kind}")
        yield box

    def _alert(self, kind: str, content: list[_Token]) -> Iterator[_Node]:
        word = self._element("span")
        word.alert = kind
        title = self._element("p", iter((word,)))
        title.styles = ("alert-title",)
        yield title
        yield from self.blocks(content)

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
        self._begin_text()
        content = self.inlines(token["children"])
        tag = "th" if attrs["head"] else "td"
        if not attrs["align"]:
            return self._element(tag, content)
        return self._element(tag, content, text_align=attrs["align"])

    def _html_block(self, token: _Token) -> Iterator[_Node]:
        content = list(self._without_tags(token["raw"]))
        if any(isinstance(node, Element) or node.text.strip() for node in content):
            yield self._element("p", iter(content))

    # --- inline content -----------------------------------------------------------------------------

    def _text(self, token: _Token) -> Iterator[_Node]:
        raw = token["raw"]
        if "$" in raw and (formula := _FORMULA.search(raw)) is not None:
            what = f'The formula "{shorten_text(formula[0])}" in the Markdown is printed as it is'
            place = self._locate(self._location.tag_name)
            self._findings.warn("markdown-formula", f"{what}; use a picture of it", place)
        if self._marks is not None:
            raw = self._marks.replace(raw)
        yield self._literal(_unescape(raw))

    def _inline_element(self, tag: str, token: _Token) -> Iterator[_Node]:
        yield self._element(tag, self.inlines(token["children"]))

    def _code(self, token: _Token) -> Iterator[_Node]:
        self._skip(token["raw"])
        yield self._element("code", iter((self._literal(token["raw"]),)))

    def _soft_break(self, _: _Token) -> Iterator[_Node]:
        self._skip("\n")
        yield self._literal("\n")

    def _skip(self, text: str) -> None:
        if self._marks is not None:
            self._marks.skip(text)

    def _line_break(self, _: _Token) -> Iterator[_Node]:
        self._skip("\n")
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
            self._warn("link", f'The link to "{shorten_text(token["attrs"]["url"])}"', str(error))
            yield from self.inlines(token["children"])
        else:
            yield self._element("a", self.inlines(token["children"]), href=target)

    def _fragment_link(self, address: str, token: _Token) -> Element:
        try:
            href = v.LINK.parse(address)
        except ValueError:
            href = "#_"  # the fragment is the target, and allows more than `href`
        link = self._element("a", self.inlines(token["children"]), href=href)
        link.fragment = address[1:]
        self._links.append(link)
        return link

    def _image(self, token: _Token) -> Iterator[_Node]:
        source, alt = token["attrs"]["url"], _plain_text(token["children"])
        try:
            v.IMAGE.parse(source)
        except ValueError as error:
            self._warn("image", f'The image "{shorten_text(source)}"', str(error))
            yield self._literal(alt)
        else:
            yield self._element("img", src=source, alt=alt)

    def _inline_html(self, token: _Token) -> Iterator[_Node]:
        yield from self._without_tags(token["raw"])

    def _footnote_reference(self, token: _Token) -> Iterator[_Node]:
        """Yield the footnote of a reference: the first contains the note, later ones refer to it."""
        key = token["raw"]
        note = self._notes.pop(key, None)
        if self._is_in_note:
            if note is not None:
                self._notes[key] = note
            self._warn(
                "note", f'The mark "[^{shorten_text(key)}]" in a footnote', "a mark in the text"
            )
        elif note is not None:
            self._called.add(key)
            yield self._footnote(key, note)
        elif key in self._called:
            again = self._element("footnote")
            again.fragment = key
            yield again

    def _footnote(self, key: str, token: _Token) -> Element:
        """Build a footnote; mistune has only the line of its definition, so all its nodes have that line."""
        line, lines = self._line, self._lines
        self._line = self._footnote_lines.get(token["attrs"]["key"])
        if self._line is not None:
            at = lines.spans[min(self._line, len(lines.spans) - 1) :][:1]
            self._lines = MarkdownLines(at, lines.origin)
        self._is_in_note = True
        content = list(self.blocks(_tighten(token["children"])))
        self._is_in_note = False
        note = self._element("footnote", iter(content))
        note.fragment = key
        self._line, self._lines = line, lines
        return note

    def _without_tags(self, raw: str) -> Iterator[_Node]:
        """Yield the text and line breaks of raw HTML, and warn of all other tags."""
        position = 0
        for tag in _TAG.finditer(raw):
            if tag.start() > position:
                yield self._literal(_unescape(raw[position : tag.start()]))
            position = tag.end()
            if _BREAK_TAG.fullmatch(tag[0]):
                yield self._element("br")
            else:
                self._warn("html", f'The HTML tag "{shorten_text(tag[0])}"', _ACCEPTED_TAGS)
            if self._line is not None:
                self._line += tag[0].count("\n")
        if position < len(raw):
            yield self._literal(_unescape(raw[position:]))

    def _warn(self, code: str, what: str, accepts: str) -> None:
        self._findings.warn(
            f"markdown-{code}",
            f"{what} in the Markdown is left out, accepted is {accepts}",
            self._locate(self._location.tag_name),
        )


def _find_tag(token: _Token) -> tuple[bool, str]:
    """Return whether a token is an end tag, and its element; an empty name if it is no such tag."""
    match = _PAIRED_TAG.fullmatch(token["raw"]) if token["type"] == "inline_html" else None
    return (False, "") if match is None else (bool(match[1]), _PAIRED[match[2].lower()])


def _pair_tags(tokens: Sequence[_Token]) -> dict[int, int]:
    """Return the positions of the start tags that have an end tag, each with that of its end tag."""
    pairs: dict[int, int] = {}
    opened: list[tuple[str, int]] = []
    counts: Counter[str] = Counter()
    for position, token in enumerate(tokens):
        is_end, name = _find_tag(token)
        if name and not is_end:
            opened.append((name, position))
            counts[name] += 1
        elif name and counts[name]:
            inner, start = opened.pop()
            counts[inner] -= 1
            while inner != name:
                inner, start = opened.pop()
                counts[inner] -= 1
            pairs[start] = position
    return pairs


def _split_alert(tokens: list[_Token]) -> tuple[str, list[_Token]]:
    """Return the kind of a quote that is an alert, and its blocks without the first line."""
    first = next((token for token in tokens if token["type"] != "blank_line"), None)
    if first is None or first["type"] != "paragraph":
        return "", tokens
    inlines = first["children"]
    breaks = (at for at, token in enumerate(inlines) if token["type"] in _LINE_ENDS)
    end = next(breaks, len(inlines))
    mark = _ALERT.fullmatch("".join(token.get("raw", " ") for token in inlines[:end]))
    if mark is None:
        return "", tokens
    rest = {**first, "children": inlines[end + 1 :], LINE: first[LINE] + 1}
    others = [token for token in tokens if token is not first]
    return mark[1].lower(), [rest, *others] if rest["children"] else others


def _tighten(tokens: list[_Token]) -> list[_Token]:
    """Return the blocks of a footnote; a single paragraph becomes tight text."""
    blocks = [token for token in tokens if token["type"] != "blank_line"]
    if len(blocks) == 1 and blocks[0]["type"] == "paragraph":
        return [{**blocks[0], "type": "block_text"}]
    return blocks


def _unescape(text: str) -> str:
    """Replace character references (CommonMark 6.4); drop forbidden characters."""
    if "&" not in text:
        return text
    plain = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    return NOT_XML.sub("", plain)


def _text_of(element: Element) -> str:
    """Return the text of an element and its descendants."""
    return "".join(
        child.text if isinstance(child, Text) else _text_of(child) for child in element.children
    )


def _plain_text(tokens: list[_Token]) -> str:
    """Return the plain text of inline tokens, for `alt`."""
    return "".join(
        _plain_text(token["children"]) if "children" in token else _unescape(token.get("raw", " "))
        for token in tokens
    )
