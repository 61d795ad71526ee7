"""Formatter of templates: changes line breaks and indentation, never the rendered document.

White space changes inside tags, between elements where no text is allowed, and between blocks. Text
is kept as written; where white space collapses anyway, its continuation lines are re-indented with
their element. `format_template` compares the syntax trees of both texts before it returns.

An element written on one line stays on one line if it fits; otherwise each child starts a line. So
formatting follows the author's choice, and is idempotent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from workers.engine.diagnostics import Diagnostic, Severity
from workers.engine.syntax.lexer import ATTRIBUTE, TokenKind, read_tokens
from workers.engine.syntax.nodes import JSON_TAGS, CDataText, Element, Text
from workers.engine.syntax.parser import parse_document
from workers.engine.syntax.vocabulary import BLOCKS, ELEMENTS, INLINE, ContentModel

WIDTH: Final = 120
_INDENT: Final = "  "
_CONTINUATION: Final = "    "
_BOM: Final = "\ufeff"
_SPACE: Final = " \t\r\n"
_WHITE_SPACE_RULE: Final = re.compile(r"white-space\s*=")
# Elements with preformatted text; they are allowed within text and among blocks.
_PREFORMATTED: Final = ("pre", "markdown")
_RUN_OF_SPACE: Final = re.compile(r"[ \t\n\r\f]+")
_BLOCK_ONLY: Final = BLOCKS - INLINE
_NOT_UTF_8: Final = Diagnostic(
    Severity.ERROR, "encoding", "Only templates in UTF-8 are formatted; convert this one first"
)


class FormattingError(Exception):
    """The text cannot be formatted; `diagnostic` has the reason and its location."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.text)
        self.diagnostic = diagnostic


def format_template(source: bytes) -> bytes:
    """Return a template with normalised white space; a formatted template is returned unchanged.

    Raises:
        FormattingError: the text is not well-formed, or not in UTF-8.
    """
    tree = parse_document(source, origin=None)
    if tree.root is None:
        raise FormattingError(tree.findings.errors[0])
    try:
        text = source.decode("utf-8")
    except UnicodeDecodeError:
        raise FormattingError(_NOT_UTF_8) from None
    mark = _BOM if text.startswith(_BOM) else ""
    text = text.removeprefix(_BOM)
    end = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"
    written = mark + _TemplateWriter(text, end).write(_read(text))
    formatted = written.encode("utf-8")
    changed = parse_document(formatted, origin=None).root
    assert changed is not None, "what is written is well-formed"
    assert list(_walk_content(tree.root)) == list(_walk_content(changed)), "the content is the same"
    return formatted


def _walk_content(root: Element) -> Iterator[object]:
    """Yield the content of a document without the white space that formatting may change."""
    waiting: list[object] = [(root, ContentModel.LISTED)]
    while waiting:
        item = waiting.pop()
        if not isinstance(item, tuple):
            yield item
            continue
        element, around = item
        content = _content_of(element.tag, around)
        yield element.tag, element.attributes
        waiting.append("end")
        waiting += reversed(list(_significant_children(element, content)))


def _significant_children(element: Element, content: ContentModel) -> Iterator[object]:
    """Yield the children of an element: pairs of child element and content model, and texts."""
    is_exact = content is ContentModel.TEXT and element.tag not in JSON_TAGS
    children = element.children
    for at, child in enumerate(children):
        if isinstance(child, Element):
            yield (child, content)
        elif is_exact or isinstance(child, CDataText):
            yield child.text
        elif child.text.strip(_SPACE) or not _is_insignificant(children, at, content):
            yield _RUN_OF_SPACE.sub(" ", child.text)


def _is_insignificant(children: Sequence[Element | Text], at: int, content: ContentModel) -> bool:
    """Return whether a text of white space alone is insignificant at its position."""
    if content is not ContentModel.BLOCKS:
        return content is ContentModel.LISTED
    is_edge = at in (0, len(children) - 1) and len(children) > 1
    beside = children[max(at - 1, 0) : at + 2]
    return is_edge or any(isinstance(e, Element) and e.tag in _BLOCK_ONLY for e in beside)


# --- reading --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _SourceNode:
    """A token or an element of the source, from offset `start` to `end`; only an element has a `tag`.

    The content of an element extends from `inner_start` to `inner_end`.
    """

    start: int
    end: int
    tag: str = ""
    inner_start: int = 0
    inner_end: int = 0
    is_space: bool = False
    is_comment: bool = False
    children: list[_SourceNode] = field(default_factory=list)


def _read(text: str) -> _SourceNode:
    """Return the nodes of a well-formed text, as the children of a root without a tag."""
    root = _SourceNode(0, len(text), inner_end=len(text))
    open_ = [root]
    for token in read_tokens(text):
        if token.kind is TokenKind.END:
            closed = open_.pop()
            closed.inner_end, closed.end = token.start, token.end
            continue
        node = _SourceNode(token.start, token.end, token.name)
        open_[-1].children.append(node)
        node.is_comment = token.kind is TokenKind.OTHER
        node.is_space = not token.text.strip(_SPACE)
        if token.name:
            node.inner_start = node.inner_end = token.end
        if token.kind is TokenKind.START:
            open_.append(node)
    return root


# --- writing --------------------------------------------------------------------------------------


class _TemplateWriter:
    """Writes the nodes of one source text."""

    def __init__(self, text: str, end_of_line: str) -> None:
        self._text = text
        self._end = end_of_line
        # A `white-space` property may be inherited by any text: then all text is kept as it is.
        self._collapses = _WHITE_SPACE_RULE.search(text) is None

    def write(self, root: _SourceNode) -> str:
        lines = self._write_children(root, ContentModel.LISTED, "")
        return self._end.join(lines) + self._end

    def _write_children(self, parent: _SourceNode, content: ContentModel, indent: str) -> list[str]:
        """Return the content of an element as lines; nodes that must not be separated share a line."""
        lines: list[str] = []
        before: _SourceNode | None = None
        space = ""
        for child in parent.children:
            if child.is_space:
                space = self._raw(child)
                continue
            if before is None:
                lines.append(indent + self._write_node(child, content, indent))
            elif self._is_on_its_line(before, child, space):
                lines[-1] += " " + self._write_node(child, content, indent)
            elif space or self._may_separate(before, child, content):
                lines += [""] * (space.count("\n") > 1)
                lines.append(indent + self._write_node(child, content, indent))
            else:
                lines[-1] += self._write_node(child, content, indent)
            before, space = child, ""
        return lines

    def _is_on_its_line(self, before: _SourceNode, child: _SourceNode, space: str) -> bool:
        """Return whether a comment follows an element on its line, and so may belong to it."""
        return child.is_comment and not before.is_comment and bool(space) and "\n" not in space

    def _may_separate(self, before: _SourceNode, after: _SourceNode, content: ContentModel) -> bool:
        """Return whether white space may be inserted between two adjacent nodes."""
        if content is ContentModel.LISTED:
            return True
        return before.tag in _BLOCK_ONLY or after.tag in _BLOCK_ONLY

    def _write_node(self, node: _SourceNode, around: ContentModel, indent: str) -> str:
        if node.is_comment:
            return self._reindent(self._raw(node), node.start, indent)
        if not node.tag:
            return self._raw(node)
        content = _content_of(node.tag, around)
        has_content = any(not child.is_space for child in node.children)
        is_structure = self._is_structure(node, content)
        if not has_content and (is_structure or node.inner_start == node.inner_end):
            return self._write_tag(node, indent, is_empty=True)
        head = self._write_tag(node, indent)
        tail = f"</{node.tag}>"
        if not is_structure:
            return head + self._write_text(node, indent) + tail
        flat = self._write_flat(node, content)
        if flat is not None and len(indent) + len(head) + len(flat) + len(tail) <= WIDTH:
            return head + flat + tail
        inner = self._write_children(node, content, indent + _INDENT)
        return self._end.join([head, *inner, indent + tail])

    def _is_structure(self, node: _SourceNode, content: ContentModel) -> bool:
        """Return whether the element contains only elements, with insignificant white space between.

        Where text is allowed too, its content must begin and end with white space or a block.
        """
        if content is ContentModel.LISTED:
            return all(child.is_space or child.tag or child.is_comment for child in node.children)
        if content is not ContentModel.BLOCKS or not self._collapses:
            return False
        solid = [child for child in node.children if not child.is_space]
        if not solid or not all(child.tag or child.is_comment for child in solid):
            return False
        if all(child.tag in INLINE or child.is_comment for child in solid):
            return False  # possibly one paragraph
        ends = (node.children[0], node.children[-1])
        return all(child.is_space or child.tag in _BLOCK_ONLY for child in ends)

    def _write_flat(self, node: _SourceNode, content: ContentModel) -> str | None:
        """Return the content of an element on one line, None if it spans several."""
        raw = self._text[node.inner_start : node.inner_end]
        if len(raw) > 2 * WIDTH or "\n" in raw or any(c.is_comment for c in node.children):
            return None
        written = []
        space = False
        before: _SourceNode | None = None
        for child in node.children:
            if child.is_space:
                space = True
                continue
            if before is not None and space and not self._may_separate(before, child, content):
                written.append(" ")
            written.append(self._write_node(child, content, ""))
            before, space = child, False
        flat = "".join(written)
        return None if "\n" in flat else flat

    def _write_tag(self, node: _SourceNode, indent: str, *, is_empty: bool = False) -> str:
        """Return a start tag: on one line if it fits, else with its attributes wrapped."""
        raw = self._text[node.start : node.inner_start]
        attributes = [f"{name}={_quoted(value)}" for name, value in ATTRIBUTE.findall(raw)]
        close = "/>" if is_empty else ">"
        one = " ".join([f"<{node.tag}", *attributes]) + close
        if len(indent) + len(one) <= WIDTH or len(attributes) < 2:
            return one
        lines = [f"<{node.tag}"]
        begin = len(indent)
        for attribute in attributes:
            if (
                begin + len(lines[-1]) + 1 + len(attribute) + len(close) <= WIDTH
                or len(lines[-1]) <= len(node.tag) + 1
            ):
                lines[-1] += f" {attribute}"
            else:
                lines.append(indent + _CONTINUATION + attribute)
                begin = 0
        return self._end.join(lines) + close

    def _write_text(self, node: _SourceNode, indent: str) -> str:
        """Return the content of an element that may contain text."""
        raw = self._text[node.inner_start : node.inner_end]
        if node.tag in JSON_TAGS or (self._is_plain(node) and not _has_multiline_token(raw)):
            return self._reindent(raw, node.start, indent)
        return raw

    def _is_plain(self, node: _SourceNode) -> bool:
        """Return whether all white space in an element's text collapses."""
        spec = ELEMENTS.get(node.tag)
        is_text = spec is not None and spec.content in (ContentModel.INLINE, ContentModel.BLOCKS)
        return is_text and node.tag not in _PREFORMATTED and self._collapses

    def _reindent(self, raw: str, start: int, indent: str) -> str:
        """Indent the continuation lines of a node by as much as its first line moves, if all can."""
        if "\n" not in raw:
            return raw
        begin = self._text.rfind("\n", 0, start) + 1
        own = self._text[begin:start]
        if own.strip(" "):
            return raw  # other text precedes it on its line
        by = len(indent) - len(own)
        first, *lines = raw.split("\n")
        if by == 0 or any(_indent_width(line) < -by for line in lines if line.strip(_SPACE)):
            return raw
        moved = [_shift(line, by) for line in lines]
        return "\n".join([first, *moved])

    def _raw(self, node: _SourceNode) -> str:
        return self._text[node.start : node.end]


def _content_of(tag: str, around: ContentModel) -> ContentModel:
    """Return the content model of an element; text for an unknown element."""
    spec = ELEMENTS.get(tag)
    if spec is None:
        return ContentModel.TEXT
    return around if spec.content is ContentModel.TRANSPARENT else spec.content


def _has_multiline_token(raw: str) -> bool:
    """Return whether a tag, a CDATA section or an expression spans lines: its white space is part of a value."""
    if "<![CDATA[" in raw or any(f"<{tag}" in raw for tag in _PREFORMATTED):
        return True
    if any("\n" in piece.partition("}}")[0] for piece in raw.split("{{")[1:]):
        return True
    return any(token.text[0] == "<" and "\n" in token.text for token in read_tokens(raw))


def _quoted(value: str) -> str:
    """Return a quoted attribute value, in double quotes unless it contains one."""
    return value if '"' in value[1:-1] or value[0] == '"' else f'"{value[1:-1]}"'


def _indent_width(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _shift(line: str, by: int) -> str:
    if not line.strip(_SPACE):
        return line
    return " " * by + line if by > 0 else line[-by:]
