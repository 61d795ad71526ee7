"""Line numbers of Markdown blocks, which mistune does not record.

Each block state has the line of the document at which its text starts: the text of a quote or list
item has one line per line of the document.
"""

from __future__ import annotations

import re
from re import Match
from typing import Any, Final

from mistune.block_parser import BlockParser
from mistune.core import BlockState

LINE: Final = "line"  # key of a token's line number, from 0
FOOTNOTES: Final = (
    "footnote_lines"  # key in the environment: the line of each footnote by its label
)
_EMPTY_ITEM: Final = re.compile(r"[ \t]*(?:[*+-]|\d{1,9}[.)])[ \t]*\n?\Z")


class LineState(BlockState):
    """A block state that adds line numbers to its tokens."""

    def __init__(self, parent: LineState | None = None) -> None:
        super().__init__(parent)
        self.first_line = 0  # the line of the document at which `src` starts
        self._known = (0, 0)  # the last position in `src`, and its line in `src`
        self._open: list[_OpenBlock] = []

    def line_at(self, position: int) -> int:
        """Return the line of a position; counts from the last position, as positions mostly increase."""
        known, line = self._known
        if position >= known:
            line += self.src.count("\n", known, position)
        else:
            line -= self.src.count("\n", position, known)
        self._known = position, line
        return self.first_line + line

    def open_block(self, start: int) -> None:
        """Record the start of the block that is being parsed."""
        line = self.line_at(start)
        self._open.append(_OpenBlock(line, line, start))

    def close_block(self) -> int:
        """Remove the block opened last, and return its line."""
        return self._open.pop().line

    def child_state(self, src: str, lazy_line_starts: set[int] | None = None) -> BlockState:
        """Return the state of a quote or list item."""
        child = super().child_state(src, lazy_line_starts)
        if isinstance(child, LineState) and self._open:
            block = self._open[-1]
            child.first_line = block.child_line
            if _EMPTY_ITEM.match(self.get_line(block.child_start)):
                child.first_line += 1  # mistune drops an empty first line of an item
            # mistune has already consumed the marker of the next item.
            block.child_start = max(self.src.rfind("\n", 0, max(self.cursor - 1, 0)) + 1, 0)
            block.child_line = self.line_at(block.child_start)
        return child

    def append_token(self, token: dict[str, Any]) -> None:
        """Append a token with the line of the current block."""
        super().append_token(self._with_line(token))

    def prepend_token(self, token: dict[str, Any]) -> None:
        """Insert a token before the last one, with the line of the current block."""
        super().prepend_token(self._with_line(token))

    def add_paragraph(self, text: str) -> None:
        """Append text to the last paragraph, or as a new one with its line."""
        last = self.last_token()
        super().add_paragraph(text)
        if self.last_token() is not last:
            self.last_token()[LINE] = self.line_at(self.cursor)

    def _with_line(self, token: dict[str, Any]) -> dict[str, Any]:
        line = self._open[-1].line if self._open else self.line_at(self.cursor)
        return token | {LINE: line}


class _OpenBlock:
    __slots__ = ("child_line", "child_start", "line")

    def __init__(self, line: int, child_line: int, child_start: int) -> None:
        self.line = line
        self.child_line = child_line
        self.child_start = child_start


class LineBlockParser(BlockParser):
    """mistune's block parser, extended to record the line of each block."""

    state_cls = LineState

    def parse_method(self, m: Match[str], state: BlockState) -> int | None:
        """Parse the block that a rule matched, and record its line."""
        if not isinstance(state, LineState):
            return super().parse_method(m, state)
        state.open_block(m.start())
        notes = state.env.get("ref_footnotes")
        noted = len(notes) if notes else 0
        try:
            return super().parse_method(m, state)
        finally:
            line = state.close_block()
            notes = state.env.get("ref_footnotes")
            if notes and len(notes) > noted and m.lastgroup == "ref_footnote":
                lines = state.env.setdefault(FOOTNOTES, {})
                lines[next(reversed(notes))] = line
