"""Lists: items below each other, their markers hanging before the content.

The room for markers is the list's own padding where lines begin; a marker ends 0.4 em before the
item's edge, which is to the right of the content where lines read from right to left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from workers.engine.layout.context import Context, Piece, Resume, Sheet, Space
from workers.engine.layout.ellipsis import shorten_piece
from workers.engine.layout.frames import lay_out_framed, outer_widths
from workers.engine.layout.lines import Look, draw_text, line_metrics
from workers.engine.layout.stacks import lay_out_stack, lets_margins_through
from workers.engine.tree.nodes import ListBlock, ListItem

MARKER_GAP: Final = 0.4  # em


@dataclass(slots=True)
class ItemPiece:
    """An item's content, with its marker before the first line of the first piece."""

    node: ListItem
    content: Piece
    marker: tuple[tuple[Look, str], float]  # and the baseline for an item without text
    has_marker: bool
    width: float

    @property
    def height(self) -> float:
        """Give the content's height, or a line's when only the marker stands there."""
        return self.content.height

    @property
    def resume(self) -> Resume:
        """Tell where the content goes on."""
        return self.content.resume

    @property
    def forced(self) -> str:
        """Tell which forced break ended the piece."""
        return self.content.forced

    @property
    def first_baseline(self) -> float | None:
        """Give the distance down to the first line's baseline."""
        return self.content.first_baseline

    def shorten(self, room: float, *, is_cut: bool = False) -> ItemPiece | None:
        """Give as much of the item as stands in a height."""
        content = shorten_piece(self.content, room, is_cut=is_cut)
        return None if content is None else replace(self, content=content)

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw the marker and the content."""
        if self.has_marker:
            (look, marker), alone = self.marker
            baseline = self.content.first_baseline
            gap = MARKER_GAP * look.style.size
            is_rtl = self.node.style.paragraph.is_rtl
            left = x + self.width + gap if is_rtl else x - gap - look.measure(marker)
            line = y + (alone if baseline is None else baseline)
            draw_text(sheet, look, marker, left, line, sheet.owner(self.node))
        self.content.draw(sheet, x, y)


def lay_out_list(context: Context, node: ListBlock, space: Space, resume: Resume) -> Piece | None:
    """Lay out the items below each other."""

    def content(inner: Space, at: Resume) -> Piece | None:
        context.path.append(node.source)
        piece = lay_out_stack(
            context, node.items, inner, at, is_through=lets_margins_through(node.style.box)
        )
        context.path.pop()
        return piece

    return lay_out_framed(context, node, space, resume, content)


def lay_out_item(context: Context, node: ListItem, space: Space, resume: Resume) -> Piece | None:
    """Lay out one item."""

    def content(inner: Space, at: Resume) -> Piece | None:
        context.path.append(node.source)
        piece = lay_out_stack(
            context, node.children, inner, at, is_through=lets_margins_through(node.style.box)
        )
        context.path.pop()
        if piece is None:
            return None
        style = node.style
        look = Look(style.text, context.fonts.split(style.text, node.marker or "-")[0][0], None)
        height, baseline = line_metrics(style.text, style.paragraph, context.fonts)
        has_marker = bool(node.marker) and at is None
        if has_marker and not node.children:
            piece.height = height
        marker = (look, _turn(node.marker) if style.paragraph.is_rtl else node.marker)
        return ItemPiece(node, piece, (marker, baseline), has_marker, inner.width)

    return lay_out_framed(context, node, space, resume, content)


def _turn(marker: str) -> str:
    """Give a marker as it is seen from right to left: its dot is to the left of the number."""
    return marker[-1] + marker[:-1] if marker.endswith(".") else marker


def measure_list(context: Context, node: ListBlock) -> tuple[float, float]:
    """Give the widths of the widest item, the list's box included."""
    measured = [measure_item(context, item) for item in node.items]
    low = max((low for low, _ in measured), default=0.0)
    high = max((high for _, high in measured), default=0.0)
    return outer_widths(node.style.box, low, high)


def measure_item(context: Context, node: ListItem) -> tuple[float, float]:
    """Give the widths of an item's widest block, box included."""
    measured = [context.measure(child) for child in node.children]
    low = max((low for low, _ in measured), default=0.0)
    high = max((high for _, high in measured), default=0.0)
    return outer_widths(node.style.box, low, high)
