"""Inline extensions of GitHub Flavored Markdown: autolinks, and strikethrough by a single tilde."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from re import Match
from typing import Final

import mistune
from mistune.block_parser import BlockParser
from mistune.core import BlockState, InlineState
from mistune.inline_parser import InlineParser
from mistune.util import escape_url

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

    def append_token(self, token: dict[str, object]) -> None:
        """Append a token with the line of the current block."""
        super().append_token(self._with_line(token))

    def prepend_token(self, token: dict[str, object]) -> None:
        """Insert a token before the last one, with the line of the current block."""
        super().prepend_token(self._with_line(token))

    def add_paragraph(self, text: str) -> None:
        """Append text to the last paragraph, or as a new one with its line."""
        last = self.last_token()
        super().add_paragraph(text)
        if self.last_token() is not last:
            self.last_token()[LINE] = self.line_at(self.cursor)

    def _with_line(self, token: dict[str, object]) -> dict[str, object]:
        line = self._open[-1].line if self._open else self.line_at(self.cursor)
        return token | {LINE: line}


@dataclass(slots=True)
class _OpenBlock:
    line: int
    child_line: int
    child_start: int


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


# An autolink follows the start of a line, white space, or one of four marks (GFM 0.29, 6.9).
_BEFORE: Final = r"(?:^|(?<=[\s*_~(]))"
_ADDRESS: Final = _BEFORE + r"(?:[Hh][Tt][Tt][Pp][Ss]?://|[Ww]{3}\.)[^\s<]+"
# Matches only at the first character of a name, which avoids quadratic time.
_EMAIL: Final = r"(?<![A-Za-z0-9._+\-/:@])[A-Za-z0-9._+-]+@[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+"
_STRIKE: Final = r"(?<![~\\])~(?![~\s])"
_STRIKE_END: Final = re.compile(r"(?<![~\\\s])~(?!~)")
_DOMAIN: Final = re.compile(r"(?i:https?://)?([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)")
_ENTITY: Final = re.compile(r"&[A-Za-z0-9]+;\Z")
_LONGEST_ENTITY: Final = 40


def github_inlines_plugin(markdown: mistune.Markdown) -> None:
    """Register the rules with mistune, as its plug-in."""
    inline = markdown.inline
    inline.register("bare_address", _ADDRESS, _parse_address)
    inline.register("bare_email", _EMAIL, _parse_email)
    inline.register("single_strike", _STRIKE, _parse_strike)
    inline.register("tilde_run", "~{3,}", _parse_tildes)


def _parse_address(inline: InlineParser, match: Match[str], state: InlineState) -> int | None:
    text = _within_brackets(match[0], state)
    text = _without_trailing(text)
    if not _has_domain(text):
        return None
    target = f"http://{text}" if _is_bare(text) else text
    return _add_link(inline, text, target, match.start(), state)


def _parse_email(inline: InlineParser, match: Match[str], state: InlineState) -> int | None:
    if match[0].endswith(("-", "_")):
        return None
    return _add_link(inline, match[0], f"mailto:{match[0]}", match.start(), state)


def _add_link(
    inline: InlineParser, text: str, target: str, start: int, state: InlineState
) -> int | None:
    """Append a link; inside another link, append the address as text."""
    if state.in_link or state.depth >= inline.max_nested_level:
        inline.process_text(text, state)
    else:
        children = [{"type": "text", "raw": text}]
        token = {"type": "link", "children": children, "attrs": {"url": escape_url(target)}}
        state.append_token(token | {"_autolink": text})
    return start + len(text)


def _within_brackets(text: str, state: InlineState) -> str:
    """Return an address up to the bracket that closes the text of an enclosing link."""
    return text.partition("]")[0] if state.brackets else text


def _without_trailing(text: str) -> str:
    """Strip trailing punctuation of an autolink (GFM 0.29, 6.9)."""
    end, surplus = len(text), text.count(")") - text.count("(")
    while end:
        last = text[end - 1]
        entity = _ENTITY.search(text, max(end - _LONGEST_ENTITY, 0), end) if last == ";" else None
        if last in "?!.,:*_~'\"":
            end -= 1
        elif last == ")" and surplus > 0:
            end, surplus = end - 1, surplus - 1
        elif entity is not None:
            end = entity.start()
        else:
            break
    return text[:end]


def _has_domain(text: str) -> bool:
    """Return whether an address has a valid domain: no underscore in its last two labels."""
    domain = _DOMAIN.match(text)
    if domain is None:
        return False
    parts = domain[1].split(".")
    is_short = len(parts) == 1
    return not (is_short and _is_bare(text)) and "_" not in "".join(parts[-2:])


def _is_bare(address: str) -> bool:
    return address[:4].lower() == "www."


def _parse_tildes(inline: InlineParser, match: Match[str], state: InlineState) -> int:
    """Append three or more tildes as text: one or two strike through (GFM 0.29, 6.5)."""
    inline.process_text(match[0], state)
    return match.end()


def _parse_strike(inline: InlineParser, match: Match[str], state: InlineState) -> int | None:
    if state.depth >= inline.max_nested_level:
        return None
    end = _STRIKE_END.search(state.src, match.end())
    if end is None:
        return None
    inner = state.copy()
    inner.src = state.src[match.end() : end.start()]
    state.append_token({"type": "strikethrough", "children": inline.render(inner)})
    return end.end()


MAX_COLUMNS: Final = 200
# A wide head and many short rows would otherwise produce millions of empty cells.
MAX_ADDED_CELLS: Final = 100_000

# The header row and the delimiter row; at least one has a bar.
_TABLE: Final = (
    r"^ {0,3}(?=\S)(?=[^\n]*\|[^\n]*\n|[^\n]*\n[^\n]*\|)[^\n]+\n"
    r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*|(?!))*+\|?[ \t]*(?:\n|$)"
)
_CELL_END: Final = re.compile(r"((?:[^\\|]|\\.|(?!))*+\\?)(?:\||$)", re.DOTALL)
# The blocks that end a table (GFM 0.29, 4.10).
_OTHER_BLOCKS: Final = (
    *("blank_line", "fenced_code", "indent_code", "atx_heading", "thematic_break"),
    *("block_quote", "list", "block_html"),
)


class TableTooLargeError(Exception):
    """A table has too many columns or cells; the message names the limit."""


def tables_plugin(markdown: mistune.Markdown) -> None:
    """Register tables with mistune, as its plug-in; also in quotes and list items."""
    block = markdown.block
    block.register("table", _TABLE, _parse_table, before="paragraph")
    block.insert_rule(block.block_quote_rules, "table", before="paragraph")
    block.insert_rule(block.list_rules, "table", before="paragraph")


def _parse_table(block: BlockParser, match: Match[str], state: BlockState) -> int | None:
    """Append a table token and return its end; None if header and delimiter row differ in length."""
    head_line, rule_line, *_ = match[0].split("\n")
    head, rule = list(_split_row(head_line)), list(_split_row(rule_line))
    if len(head) != len(rule):
        return None
    if len(head) > MAX_COLUMNS:
        raise TableTooLargeError(
            f"a table has {len(head):,} columns, accepted are at most {MAX_COLUMNS}"
        )
    aligns = [_alignment(cell) for cell in rule]
    end, rows, added = match.end(), [], 0
    other = block.compile_sc(list(_OTHER_BLOCKS))
    while end < state.cursor_max and not other.match(state.src, end):
        line = state.get_line(end)
        cells = list(_split_row(line.rstrip("\n")))
        added += max(len(head) - len(cells), 0)
        if added > MAX_ADDED_CELLS:
            raise TableTooLargeError(
                f"the rows of a table leave out more than {MAX_ADDED_CELLS:,} cells"
            )
        rows.append({"type": "table_row", "children": _cells(cells, aligns, is_head=False)})
        end += len(line)
    children: list[dict[str, object]] = [
        {"type": "table_head", "children": _cells(head, aligns, is_head=True)}
    ]
    if rows:
        children.append({"type": "table_body", "children": rows})
    state.append_token({"type": "table", "children": children})
    return end


def _split_row(line: str) -> Iterator[str]:
    r"""Yield the cells of a row; `\|` is a literal bar, also in code."""
    text = line.strip(" \t")
    at = 1 if text.startswith("|") else 0
    while at < len(text):
        cell = _CELL_END.match(text, at)
        assert cell is not None
        yield cell[1].strip().replace("\\|", "|")
        at = cell.end()


def _alignment(cell: str) -> str | None:
    match cell.startswith(":"), cell.endswith(":"):
        case True, True:
            return "center"
        case True, False:
            return "left"
        case False, True:
            return "right"
    return None


def _cells(
    texts: Sequence[str], aligns: Sequence[str | None], *, is_head: bool
) -> list[dict[str, object]]:
    """Return the cells of a row, padded or cut to the number of columns."""
    padded = [*texts[: len(aligns)], *[""] * (len(aligns) - len(texts))]
    return [
        {"type": "table_cell", "text": text, "attrs": {"align": align, "head": is_head}}
        for text, align in zip(padded, aligns, strict=True)
    ]
