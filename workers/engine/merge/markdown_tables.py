"""Tables of GitHub Flavored Markdown: outer bars are optional, and rows may be short or long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from re import Match
from typing import Any, Final

import mistune
from mistune.block_parser import BlockParser
from mistune.core import BlockState

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
    children: list[dict[str, Any]] = [
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
) -> list[dict[str, Any]]:
    """Return the cells of a row, padded or cut to the number of columns."""
    padded = [*texts[: len(aligns)], *[""] * (len(aligns) - len(texts))]
    return [
        {"type": "table_cell", "text": text, "attrs": {"align": align, "head": is_head}}
        for text, align in zip(padded, aligns, strict=True)
    ]
