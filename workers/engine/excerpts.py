"""Excerpts of source lines for terminals, with the range of a finding marked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

MAX_WIDTH: Final = 100  # of an excerpt, in terminal columns
MAX_MARKED: Final = 60
TAB_STOP: Final = 4
ELLIPSIS: Final = "…"

# Escape sequences and bidirectional controls must not reach the terminal.
_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def cut_excerpt(line: str, start: int, end: int) -> tuple[str, int, int]:
    """Return an excerpt of a line, and the first column and width of its marked range.

    A long line is cut on both sides, evenly around the range.
    """
    cells, at_start, at_end = _split_cells(line, start, max(end, start))
    marked = sum(map(_width, cells[at_start:at_end]))
    if sum(map(_width, cells)) <= MAX_WIDTH:
        return "".join(cells), sum(map(_width, cells[:at_start])), max(marked, 1)
    last = at_start + _count_fitting(cells[at_start:at_end], MAX_MARKED)
    if last == at_start:
        last = min(at_start + 1, at_end)
    room = MAX_WIDTH - sum(map(_width, cells[at_start:last])) - 2
    before = _count_fitting(reversed(cells[:at_start]), room // 2)
    room_after = room - sum(map(_width, cells[at_start - before : at_start]))
    after = _count_fitting(cells[last:], room_after)
    room_before = room - sum(map(_width, cells[last : last + after]))
    before = _count_fitting(reversed(cells[:at_start]), room_before)
    first, until = at_start - before, last + after
    left = ELLIPSIS if first else ""
    right = ELLIPSIS if until < len(cells) else ""
    shown = left + "".join(cells[first:until]) + right
    columns = len(left) + sum(map(_width, cells[first:at_start]))
    return shown, columns, max(sum(map(_width, cells[at_start:last])), 1)


def _split_cells(line: str, start: int, end: int) -> tuple[list[str], int, int]:
    """Return the cells around a range of a line, and the indices of the range in them.

    Reads a bounded number of characters, however long the line is.
    """
    reach = MAX_WIDTH * 2
    first = max(start - reach, 0)
    piece = line[first : end + reach] if end - start <= reach else line[first : start + 2 * reach]
    cells: list[str] = []
    at_start = at_end = 0
    column = 0
    for position, char in enumerate(piece, start=first):
        if position == start:
            at_start = len(cells)
        if position == end:
            at_end = len(cells)
        cell = " " * (TAB_STOP - column % TAB_STOP) if char == "\t" else _UNPRINTABLE.sub("·", char)
        if _width(cell) == 0 and cells:
            cells[-1] += cell  # a combining mark belongs to the cell before it
            continue
        cells.append(cell)
        column += _width(cell)
    if start >= first + len(piece):
        at_start = len(cells)
    if end >= first + len(piece):
        at_end = len(cells)
    return cells, at_start, max(at_start, at_end)


def _count_fitting(cells: Iterable[str] | Sequence[str], room: int) -> int:
    """Return the number of leading cells that fit in a number of columns."""
    count = 0
    for cell in cells:
        room -= _width(cell)
        if room < 0:
            break
        count += 1
    return count


def _width(cell: str) -> int:
    """Return the width of a cell in columns: two for East Asian wide characters, none for marks."""
    return sum(_width_of(char) for char in cell)


def _width_of(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
