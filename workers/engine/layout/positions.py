"""Boxes out of the flow: they stand at offsets from the edges of the nearest box, cell or paper.

Such a box takes no room where it is written. It is laid out when it is drawn: only then is known
how large the thing is that it counts from, and on which page that stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Final

from workers.engine.layout.context import (
    EPSILON,
    AnyBlock,
    Context,
    Misfit,
    Rectangle,
    Sheet,
    Space,
    in_mm,
)
from workers.engine.tree.nodes import Container, Position, Source
from workers.engine.tree.styles import BoxStyle
from workers.engine.units import Length, LengthKind

_NOWHERE: Final = Position()


def is_aside(block: AnyBlock) -> bool:
    """Tell whether a block stands out of the flow."""
    return type(block) is Container and block.position is not None


@dataclass(slots=True)
class AsidePiece:
    """A box that takes no room in the flow; `path` is the elements it stands in."""

    context: Context
    node: Container
    path: tuple[Source, ...]
    height: float = 0.0
    resume: None = None
    forced: str = ""
    first_baseline: None = None

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw the box where its offsets say, wherever it was written."""
        before, self.context.path = self.context.path, list(self.path)
        try:
            draw_aside(self.context, self.node, sheet)
        finally:
            self.context.path = before


def make_aside(context: Context, node: AnyBlock) -> AsidePiece:
    """Make the piece of a block that stands out of the flow."""
    assert isinstance(node, Container)
    return AsidePiece(context, node, tuple(context.path))


def draw_aside(context: Context, node: Container, sheet: Sheet) -> None:
    """Lay out and draw a positioned box in the rectangle that `sheet` counts from."""
    holder, position = sheet.holder, node.position or _NOWHERE
    if holder.width == inf:
        return  # a trial, on no paper
    box = node.style.box
    left, right = _resolve(position.left, holder.width), _resolve(position.right, holder.width)
    top, bottom = _resolve(position.top, holder.height), _resolve(position.bottom, holder.height)
    width = _width_of(box, holder.width, left, right)
    node = _with_height(context, node, holder.height, top, bottom)
    space = Space(max(width, 0.0), inf, True, None, is_track=True)
    piece = context.lay_out(node, space)
    assert piece is not None
    margin_top, margin_bottom = (
        side.resolve(holder.width) or 0.0 for side in (box.margin.top, box.margin.bottom)
    )
    height = piece.height + margin_top + margin_bottom
    x = holder.width - right - width if left is None and right is not None else left or 0.0
    y = holder.height - bottom - height if top is None and bottom is not None else top or 0.0
    area = Rectangle(holder.x + x, holder.y + y, width, height)
    if width <= 0:
        sheet.report(_no_room(context, node, holder.width))
    elif not box.rotate and not sheet.is_turned:
        report_outside(context, node.source, area, sheet)
    piece.draw(sheet, area.x, area.y + margin_top)


def report_outside(context: Context, source: Source, area: Rectangle, sheet: Sheet) -> None:
    """Tell of a thing that is not wholly on the paper; the bleed belongs to it."""
    page, bleed = sheet.page, sheet.page.bleed
    beyond = {
        "left": -bleed - area.x,
        "upper": -bleed - area.y,
        "right": area.x + area.width - page.width - bleed,
        "lower": area.y + area.height - page.height - bleed,
    }
    edge, distance = max(beyond.items(), key=lambda item: item[1])
    if distance <= EPSILON:
        return
    tag = source.place.tag_name
    sheet.report(
        Misfit(
            code="outside-paper",
            what=f"The `{tag}` stands {in_mm(distance)} beyond the {edge} edge of the paper",
            advice=f"Move the {tag}, or make it smaller.",
            chain=context.chain(source),
        )
    )


def _resolve(offset: Length | None, base: float) -> float | None:
    return None if offset is None else offset.resolve(base)


def _width_of(box: BoxStyle, available: float, left: float | None, right: float | None) -> float:
    """Give the outer width: what the box says, or all that is between its offsets."""
    stated = box.width.resolve(available)
    if stated is None:
        return available - (left or 0.0) - (right or 0.0)
    margins = (side.resolve(available) or 0.0 for side in (box.margin.left, box.margin.right))
    return stated + sum(margins)


def _with_height(
    context: Context, node: Container, available: float, top: float | None, bottom: float | None
) -> Container:
    """Give the box the height between its offsets, where it states both and no height."""
    box = node.style.box
    if top is None or bottom is None or box.height.kind is LengthKind.POINTS:
        return node
    height = available - top - bottom
    height -= sum(side.resolve(available) or 0.0 for side in (box.margin.top, box.margin.bottom))
    key = ("stretched", id(node), height)
    known: tuple[Container, Container] | None = context.memory.get(key)
    if known is None:
        stretched = replace(box, height=Length(max(height, 0.0)))
        made = replace(node, style=replace(node.style, box=stretched))
        known = context.memory[key] = (node, made)
    return known[1]


def _no_room(context: Context, node: Container, available: float) -> Misfit:
    return Misfit(
        code="no-room",
        what=f"The offsets of the `{node.source.place.tag_name}` leave nothing of the "
        f"{in_mm(available)} of width there are",
        advice="Make left or right smaller.",
        chain=context.chain(node.source),
    )
