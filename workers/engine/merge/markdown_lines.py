"""The line that each block of Markdown begins at, which mistune does not keep.

A block state knows at which line of the whole text its own text begins: the text of a quote or of
a list item has a line for each of its lines.
"""

from __future__ import annotations

import re
from re import Match
from typing import Any, Final

from mistune.block_parser import BlockParser
from mistune.core import BlockState

LINE: Final = "line"  # the member of a token that has its line, from 0
FOOTNOTES: Final = (
    "footnote_lines"  # in a state's environment: the line of each footnote by its key
)
_EMPTY_ITEM: Final = re.compile(r"[ \t]*(?:[*+-]|\d{1,9}[.)])[ \t]*\n?\Z")


class LineState(BlockState):
    """A state whose tokens know their lines."""

    def __init__(self, parent: LineState | None = None) -> None:
        super().__init__(parent)
        self.first_line = 0  # the line of the whole text that `src` begins at
        self._known = (0, 0)  # a position in `src`, and the line it is in
        self._open: list[_OpenBlock] = []

    def line_at(self, position: int) -> int:
        """Return the line of a position, which is mostly after the one asked for before."""
        known, line = self._known
        if position >= known:
            line += self.src.count("\n", known, position)
        else:
            line -= self.src.count("\n", position, known)
        self._known = position, line
        return self.first_line + line

    def open_block(self, start: int) -> None:
        """Note that a block is parsed that begins at a position."""
        line = self.line_at(start)
        self._open.append(_OpenBlock(line, line, start))

    def close_block(self) -> int:
        """Note that the block opened last has been parsed, and return its line."""
        return self._open.pop().line

    def child_state(self, src: str, lazy_line_starts: set[int] | None = None) -> BlockState:
        """Make the state of a quote or of a list item."""
        child = super().child_state(src, lazy_line_starts)
        if isinstance(child, LineState) and self._open:
            block = self._open[-1]
            child.first_line = block.child_line
            if _EMPTY_ITEM.match(self.get_line(block.child_start)):
                child.first_line += (
                    1  # mistune leaves out the line of an item that begins with none
                )
            # The marker of a next item has been read by now.
            block.child_start = max(self.src.rfind("\n", 0, max(self.cursor - 1, 0)) + 1, 0)
            block.child_line = self.line_at(block.child_start)
        return child

    def append_token(self, token: dict[str, Any]) -> None:
        """Add a token, with the line of the block that is parsed."""
        super().append_token(self._with_line(token))

    def prepend_token(self, token: dict[str, Any]) -> None:
        """Insert a token before the last one."""
        super().prepend_token(self._with_line(token))

    def add_paragraph(self, text: str) -> None:
        """Add text to the paragraph before it, or as a new one."""
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
    """mistune's reader of blocks, which also notes where each begins."""

    state_cls = LineState

    def parse_method(self, m: Match[str], state: BlockState) -> int | None:
        """Parse what a rule has found."""
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
