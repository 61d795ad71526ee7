"""Shrinking: content set smaller, and wrapped anew, until its box holds it (language.md 1.9).

The largest text goes down in steps of 0.25 pt to `min-font-size`, and everything else in proportion:
smaller texts, but none below that size, and images. Bar codes, paddings and gaps stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from math import inf
from typing import Any, Final

from workers.engine.diagnostics import Findings
from workers.engine.layout.context import Context, Piece, Resume, Sheet, Space
from workers.engine.layout.display import Page
from workers.engine.layout.pictures import find_picture
from workers.engine.layout.problems import Problem
from workers.engine.tree.nodes import (
    CellTemplate,
    Image,
    ListItem,
    PageValues,
    Run,
    Source,
    TableRow,
)
from workers.engine.tree.styles import BoxStyle, Overflow, Style, TextStyle
from workers.engine.units import Length, LengthKind

STEP: Final = 0.25  # points
LEAST_SHARE: Final = 0.7  # of the size, where `min-font-size` is not given
_TRIAL: Final = PageValues(number=1, count=1, index=1, total=1, name="default")


def lay_out_shrunk(context: Context, node: Any, space: Space, resume: Resume) -> Piece | None:
    """Lay out a block whose content may get smaller, at the largest size that fits.

    When none fits it is laid out at the smallest, and says what does not fit.
    """
    if context.crossings is not None:
        context.crossings.is_measured = True
    key = ("shrunk", id(node), space.width, space.is_track)
    known: tuple[Any, Any] | None = context.memory.get(key)
    if known is None:
        known = context.memory[key] = (node, _find_fitting(context, node, space))
    shrunk = known[1]
    return context.layouts[type(node)](context, shrunk, space, resume)


def _find_fitting(context: Context, node: Any, space: Space) -> Any:
    whole = _Scaler(context, space.width)
    candidate = whole.scale(node)
    if _fits(context, candidate, space):
        return candidate
    largest = whole.largest or node.style.text.size
    stated = node.style.box.min_font_size
    least = largest * LEAST_SHARE if stated is None else min(stated, largest)
    low, high = 1, int((largest - least) / STEP + 1e-6)
    best = None
    while low <= high:
        steps = (low + high) // 2
        factor = (largest - steps * STEP) / largest
        candidate = _Scaler(context, space.width, factor, floor=stated).scale(node)
        if _fits(context, candidate, space):
            best, high = candidate, steps - 1
        else:
            low = steps + 1
    smallest = least / largest
    return best or _Scaler(context, space.width, smallest, floor=stated).scale(node)


def _fits(context: Context, node: Any, space: Space) -> bool:
    """Lay a block out and draw it on a page that is thrown away: what does not fit is told there."""
    findings = Findings()
    sheet = Sheet(Page(inf, inf), values=_TRIAL, outline=[], findings=findings, told=set())
    trial = Space(space.width, inf, True, None, space.is_track)
    piece = context.layouts[type(node)](context, node, trial, None)
    if piece is not None:
        piece.draw(sheet, 0.0, 0.0)
    return not findings.error_count


class _Scaler:
    """Makes a copy of a block with its sizes scaled; no text gets smaller than `floor`.

    `largest` is the size of the largest text met.
    """

    def __init__(
        self, context: Context, width: float, factor: float = 1.0, *, floor: float | None = None
    ) -> None:
        self._context = context
        self._width = width
        self._factor = factor
        self._floor = floor or 0.0
        # Rows share templates and cells share styles; what is shared stays shared.
        self._made: dict[int, tuple[Any, Any]] = {}
        self.largest = 0.0

    def scale(self, value: Any) -> Any:
        """Give the copy of a block or of anything in it."""
        if isinstance(value, Source | str | bytes) or value is None:
            return value
        if type(value) is tuple or isinstance(value, list):
            return tuple(self.scale(part) for part in value)
        known = self._made.get(id(value))
        if known is None:
            known = self._made[id(value)] = (value, self._copy(value))
        return known[1]

    def _copy(self, value: Any) -> Any:
        match value:
            case Style():
                return self._style(value)
            case TextStyle():
                return self._text(value)
            case Image():
                return replace(value, style=self._picture_style(value))
            case Run() | CellTemplate() | ListItem():
                style = value.style if isinstance(value, Run) else value.style.text
                self.largest = max(self.largest, style.size)
                return self._members(value)
            case TableRow():
                cells = tuple(self.scale(cell) for cell in value.cells)
                return replace(value, template=self.scale(value.template), cells=cells)
            case _ if is_dataclass(value):
                return self._members(value)
            case Sequence() if not isinstance(value, tuple):
                return tuple(self.scale(part) for part in value)
            case _ if hasattr(value, "evaluate"):
                return _ScaledRows(self, value)
            case _:
                return value

    def _members(self, value: Any) -> Any:
        members = {field.name: self.scale(getattr(value, field.name)) for field in fields(value)}
        return replace(value, **members)

    def _style(self, style: Style) -> Style:
        ratio = self._size(style.text.size) / style.text.size
        paragraph = replace(
            style.paragraph,
            line_height=style.paragraph.line_height * ratio,
            indent=style.paragraph.indent * ratio,
        )
        is_shrinking = style.box.overflow is Overflow.SHRINK
        box = replace(style.box, overflow=Overflow.SPENT) if is_shrinking else style.box
        return replace(style, text=self.scale(style.text), paragraph=paragraph, box=box)

    def _text(self, style: TextStyle) -> TextStyle:
        size = self._size(style.size)
        ratio = size / style.size
        return replace(
            style,
            size=size,
            letter_spacing=style.letter_spacing * ratio,
            rise=style.rise * ratio,
        )

    def _size(self, size: float) -> float:
        return max(size * self._factor, min(size, self._floor))

    def _picture_style(self, node: Image) -> Style:
        box = node.style.box
        if box.width.kind is LengthKind.AUTO and box.height.kind is LengthKind.AUTO:
            picture = find_picture(self._context, node.picture, node.source)
            if not isinstance(picture, Problem):
                width = min(picture.width_points, self._width) * self._factor
                return replace(node.style, box=replace(box, width=Length(width)))
        return replace(node.style, box=self._smaller(box))

    def _smaller(self, box: BoxStyle) -> BoxStyle:
        return replace(
            box,
            width=self._length(box.width),
            height=self._length(box.height),
            max_height=None if box.max_height is None else self._length(box.max_height),
        )

    def _length(self, length: Length) -> Length:
        return Length(length.value * self._factor, length.kind)


class _ScaledRows:
    """Head or foot rows of a table, made smaller as they are evaluated."""

    def __init__(self, scaler: _Scaler, rows: Any) -> None:
        self._scaler = scaler
        self._rows = rows
        self.is_static = rows.is_static

    def evaluate(self, values: Any) -> tuple[TableRow, ...]:
        """Give the rows for one piece."""
        return tuple(self._scaler.scale(row) for row in self._rows.evaluate(values))
