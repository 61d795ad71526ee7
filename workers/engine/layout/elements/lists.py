"""Lists: items below each other with hanging markers.

Markers are placed in the list's own padding, on the side where lines start. A marker ends 0.4 em
before the item's edge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from workers.engine.layout.blocks.boxes import lay_out_box, outer_widths
from workers.engine.layout.blocks.stacks import lay_out_children
from workers.engine.layout.blocks.truncation import truncate_fragment
from workers.engine.layout.context import Fragment, LayoutContext, PageCanvas, Region, Resume
from workers.engine.layout.lines import GlyphStyle, draw_text, line_metrics, make_glyph_style
from workers.engine.tree.nodes import ListBlock, ListItem

MARKER_GAP: Final = 0.4  # em


@dataclass(slots=True)
class ItemFragment:
    """The content of an item, with its marker beside the first line of the first fragment."""

    node: ListItem
    content: Fragment
    marker: tuple[tuple[GlyphStyle, str], float]  # and the baseline of an item without text
    has_marker: bool
    width: float

    @property
    def height(self) -> float:
        """The height of the content, or of a line for an item without content, in points."""
        return self.content.height

    @property
    def resume(self) -> Resume:
        """The resume position of the content, None when it is finished."""
        return self.content.resume

    @property
    def forced(self) -> str:
        """The forced break that ended the fragment, empty for none."""
        return self.content.forced

    @property
    def first_baseline(self) -> float | None:
        """The distance from the top to the first baseline, in points, None without text."""
        return self.content.first_baseline

    def truncate(self, room: float, *, is_cut: bool = False) -> ItemFragment | None:
        """Return the item with truncated content."""
        content = truncate_fragment(self.content, room, is_cut=is_cut)
        return None if content is None else replace(self, content=content)

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the marker and the content."""
        tree = canvas.tree
        if self.has_marker:
            if tree is not None:
                tree.enter_part(self.node, "Lbl")
            (glyph_style, marker), alone = self.marker
            baseline = self.content.first_baseline
            gap = MARKER_GAP * glyph_style.style.size
            is_rtl = self.node.style.paragraph.is_rtl
            left = x + self.width + gap if is_rtl else x - gap - glyph_style.measure(marker)
            line = y + (alone if baseline is None else baseline)
            draw_text(canvas, glyph_style, marker, left, line, canvas.owner_of(self.node))
            if tree is not None:
                tree.leave()
        if tree is not None:
            tree.enter_part(self.node, "LBody")
        self.content.draw(canvas, x, y)
        if tree is not None:
            tree.leave()


def lay_out_list(
    context: LayoutContext, node: ListBlock, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out the items below each other."""

    def content(inner: Region, at: Resume) -> Fragment | None:
        return lay_out_children(context, node, node.items, inner, at)

    return lay_out_box(context, node, region, resume, content)


def lay_out_item(
    context: LayoutContext, node: ListItem, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out one item."""

    def content(inner: Region, at: Resume) -> Fragment | None:
        fragment = lay_out_children(context, node, node.children, inner, at)
        if fragment is None:
            return None
        style = node.style
        glyph_style = make_glyph_style(
            style.text, context.fonts.split(style.text, node.marker or "-")[0][0]
        )
        height, baseline = line_metrics(style.text, style.paragraph, context.fonts)
        has_marker = bool(node.marker) and at is None
        if has_marker and not node.children:
            fragment.height = height
        marker = (
            glyph_style,
            _mirror_marker(node.marker) if style.paragraph.is_rtl else node.marker,
        )
        return ItemFragment(node, fragment, (marker, baseline), has_marker, inner.width)

    return lay_out_box(context, node, region, resume, content)


def _mirror_marker(marker: str) -> str:
    """Return a marker as it appears from right to left: its dot is to the left of the number."""
    return marker[-1] + marker[:-1] if marker.endswith(".") else marker


def measure_list(context: LayoutContext, node: ListBlock) -> tuple[float, float]:
    """Return the min-content and max-content widths of a list, box included."""
    return outer_widths(node.style.box, *context.measure_widest(node.items))


def measure_item(context: LayoutContext, node: ListItem) -> tuple[float, float]:
    """Return the min-content and max-content widths of an item, box included."""
    return outer_widths(node.style.box, *context.measure_widest(node.children))
