"""Lists and notes: blocks with a marker or a number beside their first line.

Markers are placed in the list's own padding, on the side where lines start. A marker ends 0.4 em
before the item's edge. Notes have their number inside; they are at the bottom of a page or collected.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import inf
from typing import Final, Self

from workers.engine.layout.blocks.boxes import lay_out_box, outer_widths
from workers.engine.layout.blocks.labels import NUMBER_GAP
from workers.engine.layout.blocks.stacks import lay_out_children
from workers.engine.layout.context import (
    Fragment,
    LayoutContext,
    PageCanvas,
    Region,
    Resume,
    WholeFragment,
)
from workers.engine.layout.lines.breaking import break_lines
from workers.engine.layout.lines.drawing import draw_lines, draw_text
from workers.engine.layout.lines.fragments import (
    GlyphStyle,
    InlineFragment,
    Line,
    Strut,
    line_metrics,
    make_glyph_style,
)
from workers.engine.tree.memo import Kind
from workers.engine.tree.nodes import ListBlock, ListItem, Note, NoteCall
from workers.engine.tree.styles.computed import Align, WhiteSpace

MARKER_GAP: Final = 0.4  # em


@dataclass(slots=True)
class _MarkedFragment(WholeFragment, ABC):
    """The content of an item or note, which has a label beside the first line of its first fragment."""

    content: Fragment
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

    def truncate(self, room: float, *, is_cut: bool = False) -> Self | None:
        """Return the item or note with truncated content."""
        content = self.content.truncate(room, is_cut=is_cut)
        return None if content is None else replace(self, content=content)

    @abstractmethod
    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the label and the content."""


@dataclass(slots=True)
class ItemFragment(_MarkedFragment):
    """The content of an item, with its marker beside the first line of the first fragment."""

    node: ListItem
    marker: tuple[tuple[GlyphStyle, str], float]  # and the baseline of an item without text
    has_marker: bool

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the marker and the content."""
        if self.has_marker:
            (glyph_style, marker), alone = self.marker
            baseline = self.content.first_baseline
            gap = MARKER_GAP * glyph_style.style.size
            is_rtl = self.node.style.paragraph.is_rtl
            left = x + self.width + gap if is_rtl else x - gap - glyph_style.measure(marker)
            line = y + (alone if baseline is None else baseline)
            with canvas.part(self.node, "Lbl"):
                draw_text(canvas, glyph_style, marker, left, line, canvas.owner_of(self.node))
        with canvas.part(self.node, "LBody"):
            self.content.draw(canvas, x, y)


@dataclass(slots=True)
class NoteFragment(_MarkedFragment):
    """A fragment of a note; its lines are indented by `hanging_indent` points beside the number."""

    node: Note
    number: Line | None
    hanging_indent: float

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the number and the content."""
        is_rtl = self.node.style.paragraph.is_rtl
        if self.number is not None and not canvas.is_dry_run:
            left = x + self.width - self.number.width if is_rtl else x
            baseline = self.content.first_baseline
            down = 0.0 if baseline is None else baseline - self.number.baseline
            with canvas.part(self.node, "Lbl"):
                draw_lines(canvas, (self.number,), left, y + down, self.node)
        self.content.draw(canvas, x if is_rtl else x + self.hanging_indent, y)


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
        return ItemFragment(fragment, inner.width, node, (marker, baseline), has_marker)

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


def lay_out_note(
    context: LayoutContext, node: Note, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out the part of a note that fits."""

    def content(inner: Region, at: Resume) -> Fragment | None:
        number = _number_line(context, node)
        hanging_indent = _hanging_indent(node, number)
        room = inner._replace(width=max(inner.width - hanging_indent, 1.0), bottom=None)
        fragment = lay_out_children(context, node, node.children, room, at)
        if fragment is None:
            return None
        if not node.children:
            fragment.height = line_metrics(node.style.text, node.style.paragraph, context.fonts)[0]
        shown = number if at is None else None
        return NoteFragment(fragment, inner.width, node, shown, hanging_indent)

    return lay_out_box(context, node, region, resume, content)


def measure_note(context: LayoutContext, node: Note) -> tuple[float, float]:
    """Return the min-content and max-content widths of a note, its number included."""
    hanging_indent = _hanging_indent(node, _number_line(context, node))
    low, high = context.measure_widest(node.children)
    return outer_widths(node.style.box, low + hanging_indent, high + hanging_indent)


def number_of(context: LayoutContext, node: Note) -> str:
    """Return the number of a note: its own, or the one counted on its page."""
    state = context.references
    return node.number or ("" if state is None else state.note_numbers.get(node.id, ""))


_NUMBERS: Final[Kind[tuple[Note, str], Line]] = Kind()


def _number_line(context: LayoutContext, node: Note) -> Line | None:
    """Return the number as a line that links back to the call."""
    text = number_of(context, node)
    if not text:
        return None
    run = NoteCall(text, node.marker_style, f"#{node.call_anchor}")
    return context.memo.remember(_NUMBERS, (node, text), lambda: _set_number(context, node, run))


def _set_number(context: LayoutContext, node: Note, run: NoteCall) -> Line:
    own, paragraph, text = node.style.text, node.style.paragraph, run.text
    faces = context.fonts.split(run.style, text)
    # Without it 10,000 notes of a word take an eighth longer.
    if len(faces) == 1 and text.isascii() and not paragraph.is_rtl:
        glyph_style = make_glyph_style(run.style, faces[0][0], run.link, text=text)
        parts = (InlineFragment(0.0, glyph_style.measure(text), text, glyph_style),)
        height, baseline = Strut.of(own, paragraph, context.fonts.find(own)).of_line(parts)
        return Line(0.0, 0.0, height, baseline, parts[0].width, parts)
    context.report_missing_glyphs(text, node.source)
    style = replace(paragraph, align=Align.LEFT, indent=0.0, white_space=WhiteSpace.NOWRAP)
    line = break_lines(context, (run,), base=own, style=style, width=inf).lines[0]
    return line._replace(x=0.0)


def _hanging_indent(node: Note, number: Line | None) -> float:
    """Return the indent for the number of a note; a wider number moves its own text only."""
    if number is None:
        return 0.0
    own = number.width + NUMBER_GAP * node.style.text.size
    return max(own, node.number_width or 0.0)
