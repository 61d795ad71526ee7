"""Collects the inline content of a paragraph, and collapses its white space (CSS Text 4, 4.3)."""

from __future__ import annotations

import re
from typing import Any

from workers.engine.tree import nodes
from workers.engine.tree.expressions.running_text import (
    BY_FIRST_STRONG,
    SPACES,
    SPACES_IN_LINE,
    continue_in_lines,
)
from workers.engine.tree.styles.computed import TextStyle, WhiteSpace


class InlineCollector:
    """The inline content of one paragraph, white space collapsed across its runs."""

    __slots__ = ("_at_edge", "_link", "_pieces", "_style", "inlines", "link")

    def __init__(self) -> None:
        self.inlines: list[nodes.Inline] = []
        self._pieces: list[str] = []
        self._style: TextStyle | None = None
        self._link: str | None = None  # of the pieces
        self.link: str | None = None  # of what is added
        self._at_edge = True  # a space here would be at the start of a line, or after another space

    def add_text(self, text: str, style: TextStyle, white_space: WhiteSpace) -> None:
        """Add characters of one style."""
        if white_space in (WhiteSpace.PRE, WhiteSpace.PRE_WRAP):
            self._add_lines(text.expandtabs(8), style)
        elif white_space is WhiteSpace.PRE_LINE:
            lines = SPACES_IN_LINE.sub(" ", text)
            self._add_lines(re.sub(r" ?\n ?", "\n", lines), style)
        else:
            collapsed = SPACES.sub(" ", text)
            if self._at_edge:
                collapsed = collapsed.lstrip(" ")
            self._add(collapsed, style)
            if collapsed:
                self._at_edge = collapsed[-1] == " "

    def add_break(self, style: TextStyle) -> None:
        """Add a forced line break; the space before it is removed."""
        self._drop_last_space()
        self._flush()
        self.inlines.append(nodes.LineBreak(style))
        self._at_edge = True

    def add_block(self, block: Any) -> None:
        """Add an image, bar code, chart or form field in the line."""
        # The area of a form field is its widget's, for typing.
        link = None if isinstance(block, nodes.FormField) else self.link
        self.add(nodes.InlineBlock(block, link))

    def add(self, inline: nodes.Inline) -> None:
        """Add what takes room in the line and is no text, such as a reference."""
        self._flush()
        self.inlines.append(inline)
        self._at_edge = False

    def add_anchor(self, name: str) -> None:
        """Add an anchor, which has no size and does not affect the white space around it."""
        self._flush()
        self.inlines.append(nodes.InlineAnchor(name))

    def add_call(self, call: nodes.Inline) -> None:
        """Add the call of a note, without a space before it."""
        self._drop_last_space()
        self.add(call)

    def content_since(self, start: int) -> tuple[nodes.Inline, ...]:
        """Return the content after the first `start` inlines, the space at its end included."""
        rest = self.inlines[start:]
        if self._style is not None:
            rest.append(nodes.TextRun("".join(self._pieces), self._style, self._link))
        return tuple(rest)

    def finish(self) -> tuple[nodes.Inline, ...]:
        """Return the runs; the space at the end is removed."""
        self._drop_last_space()
        self._flush()
        return tuple(self.inlines)

    def _add_lines(self, text: str, style: TextStyle) -> None:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if BY_FIRST_STRONG in text:
            lines = continue_in_lines(lines)
        for position, line in enumerate(lines):
            if position:
                self._flush()
                self.inlines.append(nodes.LineBreak(style))
            self._add(line, style)
        self._at_edge = False

    def _add(self, text: str, style: TextStyle) -> None:
        if not text:
            return
        if style is not self._style or self.link != self._link:
            self._flush()
            self._style, self._link = style, self.link
        self._pieces.append(text)

    def _drop_last_space(self) -> None:
        """Remove the collapsible space at the end, also if it ends a run of another style."""
        if not self._at_edge:
            return
        if self._pieces:
            self._pieces[-1] = self._pieces[-1].removesuffix(" ")
            return
        at = len(self.inlines) - 1
        while at >= 0 and isinstance(self.inlines[at], nodes.InlineAnchor):
            at -= 1
        if at >= 0 and isinstance(last := self.inlines[at], nodes.TextRun):
            self.inlines[at] = nodes.TextRun(last.text.removesuffix(" "), last.style, last.link)

    def _flush(self) -> None:
        text = "".join(self._pieces)
        if text and self._style is not None:
            self.inlines.append(nodes.TextRun(text, self._style, self._link))
        self._pieces.clear()
        self._style = self._link = None
