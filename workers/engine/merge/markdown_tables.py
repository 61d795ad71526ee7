"""Tables in Markdown as GitHub reads them: with and without outer bars, rows short or long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from re import Match
from typing import Any, Final

import mistune
from mistune.block_parser import BlockParser
from mistune.core import BlockState

MAX_COLUMNS: Final = 200
# Rows may leave cells out, so a wide head and many short rows would make millions of them.
MAX_ADDED_CELLS: Final = 100_000

# The head, and the line that says where cells stand; one of the two has a bar.
_TABLE: Final = (
    r"^ {0,3}(?=\S)(?=[^\n]*\|[^\n]*\n|[^\n]*\n[^\n]*\|)[^\n]+\n"
    r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*|(?!))*+\|?[ \t]*(?:\n|$)"
)
_CELL_END: Final = re.compile(r"((?:[^\\|]|\\.|(?!))*+\\?)(?:\||$)", re.DOTALL)
# What ends a table beside a blank line (GFM 0.29, 4.10).
_OTHER_BLOCKS: Final = (
    *("blank_line", "fenced_code", "indent_code", "atx_heading", "thematic_break"),
    *("block_quote", "list", "block_html"),
)


class TableTooLargeError(Exception):
    """A table of too many columns or cells; the message says which."""


def read_tables(markdown: mistune.Markdown) -> None:
    """Be a plug-in of mistune: tables everywhere, in quotes and list items too."""
    block = markdown.block
    block.register("table", _TABLE, _parse_table, before="paragraph")
    block.insert_rule(block.block_quote_rules, "table", before="paragraph")
    block.insert_rule(block.list_rules, "table", before="paragraph")


def _parse_table(block: BlockParser, match: Match[str], state: BlockState) -> int | None:
    """Add a table's token and give where it ends; None where the columns do not agree."""
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
    """Give the cells of a line; a bar after a backslash is a sign of the text, also in code."""
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
    """Give the cells of a row: as many as the head has, whatever the row says."""
    padded = [*texts[: len(aligns)], *[""] * (len(aligns) - len(texts))]
    return [
        {"type": "table_cell", "text": text, "attrs": {"align": align, "head": is_head}}
        for text, align in zip(padded, aligns, strict=True)
    ]
