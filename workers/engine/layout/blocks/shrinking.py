"""`overflow="shrink"`: content is set in smaller text until its box holds it.

The largest text shrinks in steps of 0.25 pt down to `min-font-size`, and everything else in
proportion: smaller texts, though not below that size, and images. Bar codes, padding and gaps do
not shrink.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from math import inf
from typing import Any, Final

from workers.engine.diagnostics import Findings
from workers.engine.layout.context import (
    ContentProblem,
    Fragment,
    LayoutContext,
    PageCanvas,
    Region,
    Resume,
)
from workers.engine.layout.display import LaidOutPage
from workers.engine.layout.pictures import find_picture
from workers.engine.tree import nodes
from workers.engine.tree.memo import Kind, Lifetime
from workers.engine.tree.styles.computed import BoxStyle, Overflow, Style, TextStyle
from workers.engine.units import Length, LengthKind

STEP: Final = 0.25  # points
MIN_FACTOR: Final = 0.7  # of the size, without `min-font-size`


_SHRUNK: Final[Kind[tuple[object, float, bool], object]] = Kind(Lifetime.WIDTHS)


def lay_out_shrunk(
    context: LayoutContext, node: object, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out a block at the largest text size at which its content fits.

    If none fits, the smallest is used and the overflow is reported.
    """
    if context.references is not None:
        context.references.affects_widths = True
    key = node, region.width, region.has_fixed_width
    shrunk = context.memo.remember(_SHRUNK, key, lambda: _find_fitting(context, node, region))
    return context.layouts[type(node)](context, shrunk, region, resume)


def _find_fitting(context: LayoutContext, node: Any, region: Region) -> object:
    whole = _Scaler(context, region.width)
    is_text = isinstance(node, nodes.Container | nodes.Paragraph | nodes.Row) and all(
        map(_is_text, _content_of(node))
    )
    candidate = _mark_as_shrunk(node) if is_text else whole.scale(node)
    if _fits(context, candidate, region):
        return candidate
    if is_text:
        whole.scale(node)  # finds the largest size
    largest = whole.largest or node.style.text.size
    stated = node.style.box.min_font_size
    least = largest * MIN_FACTOR if stated is None else min(stated, largest)
    low, high = 1, int((largest - least) / STEP + 1e-6)
    best = None
    while low <= high:
        steps = (low + high) // 2
        factor = (largest - steps * STEP) / largest
        candidate = _Scaler(context, region.width, factor, floor=stated).scale(node)
        if _fits(context, candidate, region):
            best, high = candidate, steps - 1
        else:
            low = steps + 1
    smallest = least / largest
    return best or _Scaler(context, region.width, smallest, floor=stated).scale(node)


def _content_of(node: nodes.Container | nodes.Paragraph | nodes.Row) -> tuple[Any, ...]:
    return node.inlines if isinstance(node, nodes.Paragraph) else node.children


def _is_text(part: object) -> bool:
    """Return whether a part of a block is the same at full size: text without a box that shrinks."""
    if isinstance(part, nodes.Container | nodes.Paragraph | nodes.Row):
        is_shrinking = part.style.box.overflow is Overflow.SHRINK
        return not is_shrinking and all(map(_is_text, _content_of(part)))
    return isinstance(part, nodes.TextRun | nodes.LineBreak)


def _mark_as_shrunk(
    node: nodes.Container | nodes.Paragraph | nodes.Row,
) -> nodes.Container | nodes.Paragraph | nodes.Row:
    box = replace(node.style.box, overflow=Overflow.SHRUNK)
    return replace(node, style=replace(node.style, box=box))


def _fits(context: LayoutContext, node: object, region: Region) -> bool:
    """Return whether a block fits, by drawing it on a discarded page that reports its problems."""
    findings = Findings()
    canvas = PageCanvas(LaidOutPage(inf, inf), findings=findings)
    trial = region._replace(height=inf, is_top=True, bottom=None)
    fragment = context.layouts[type(node)](context, node, trial, None)
    if fragment is not None:
        fragment.draw(canvas, 0.0, 0.0)
    return not findings.error_count


class _Scaler:
    """Copies blocks with scaled sizes; no text becomes smaller than `floor`.

    `largest` is the size of the largest text so far, in points.
    """

    def __init__(
        self,
        context: LayoutContext,
        width: float,
        factor: float = 1.0,
        *,
        floor: float | None = None,
    ) -> None:
        self._context = context
        self._width = width
        self._factor = factor
        self._floor = floor or 0.0
        # Rows share templates and cells share styles; their copies are shared likewise.
        self._copies: dict[int, tuple[object, object]] = {}  # with the original, by its identity
        self.largest = 0.0

    def scale(self, value: object) -> Any:
        """Return the scaled copy of a block or of any value in it."""
        if isinstance(value, nodes.Source | str | bytes) or value is None:
            return value
        if type(value) is tuple or isinstance(value, list):
            return tuple(self.scale(part) for part in value)
        if id(value) not in self._copies:
            self._copies[id(value)] = value, self._copy(value)
        return self._copies[id(value)][1]

    def _copy(self, value: object) -> object:
        match value:
            case Style():
                return self._style(value)
            case TextStyle():
                return self._text(value)
            case nodes.Image():
                return replace(value, style=self._picture_style(value))
            case nodes.TextRun() | nodes.CellTemplate() | nodes.ListItem():
                style = value.style if isinstance(value, nodes.TextRun) else value.style.text
                self.largest = max(self.largest, style.size)
                return self._members(value)
            case nodes.TableRow():
                cells = tuple(self.scale(cell) for cell in value.cells)
                return replace(value, template=self.scale(value.template), cells=cells)
            case nodes.Repeated(is_static=is_static):
                return nodes.Repeated(partial(self._scale_repeated, value), is_static)
            case _ if is_dataclass(value):
                return self._members(value)
            case Sequence() if not isinstance(value, tuple):
                return tuple(self.scale(part) for part in value)
            case _:
                return value

    def _scale_repeated(self, content: nodes.Repeated[Any, Any], values: object) -> tuple[Any, ...]:
        return tuple(map(self.scale, content.evaluate(values)))

    def _members(self, value: Any) -> object:
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
        box = replace(style.box, overflow=Overflow.SHRUNK) if is_shrinking else style.box
        return replace(style, text=self.scale(style.text), paragraph=paragraph, box=box)

    def _text(self, style: TextStyle) -> TextStyle:
        size = self._size(style.size)
        ratio = size / style.size
        return replace(
            style,
            size=size,
            letter_spacing=style.letter_spacing * ratio,
            word_spacing=style.word_spacing * ratio,
            rise=style.rise * ratio,
        )

    def _size(self, size: float) -> float:
        return max(size * self._factor, min(size, self._floor))

    def _picture_style(self, node: nodes.Image) -> Style:
        box = node.style.box
        if box.width.kind is LengthKind.AUTO and box.height.kind is LengthKind.AUTO:
            picture = find_picture(self._context, node.picture, node.source)
            if not isinstance(picture, ContentProblem):
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
