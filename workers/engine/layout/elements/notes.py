"""Notes: blocks with a number before the first line, at the bottom of a page or collected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Final

from workers.engine.layout.blocks.boxes import lay_out_box, outer_widths
from workers.engine.layout.blocks.labels import NUMBER_GAP
from workers.engine.layout.blocks.stacks import lay_out_children
from workers.engine.layout.blocks.truncation import truncate_fragment
from workers.engine.layout.context import Fragment, LayoutContext, PageCanvas, Region, Resume
from workers.engine.layout.lines import (
    InlineFragment,
    Line,
    break_lines,
    draw_lines,
    line_metrics,
    make_glyph_style,
)
from workers.engine.layout.lines.heights import Strut
from workers.engine.tree.memo import Kind
from workers.engine.tree.nodes import Note, NoteCall
from workers.engine.tree.styles.computed import Align, WhiteSpace


@dataclass(slots=True)
class NoteFragment:
    """A fragment of a note; its lines are indented by `hanging_indent` points beside the number."""

    node: Note
    content: Fragment
    number: Line | None
    hanging_indent: float
    width: float
    height: float

    @property
    def resume(self) -> Resume:
        """The resume position of the note, None when it is finished."""
        return self.content.resume

    @property
    def forced(self) -> str:
        """The forced break that ended the fragment, empty for none."""
        return self.content.forced

    @property
    def first_baseline(self) -> float | None:
        """The distance from the top to the first baseline, in points, None without text."""
        return self.content.first_baseline

    def truncate(self, room: float, *, is_cut: bool = False) -> NoteFragment | None:
        """Return the note with truncated content."""
        content = truncate_fragment(self.content, room, is_cut=is_cut)
        return None if content is None else replace(self, content=content, height=content.height)

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the number and the content."""
        is_rtl = self.node.style.paragraph.is_rtl
        if self.number is not None and not canvas.is_dry_run:
            left = x + self.width - self.number.width if is_rtl else x
            baseline = self.content.first_baseline
            down = 0.0 if baseline is None else baseline - self.number.baseline
            tree = canvas.tree
            if tree is not None:
                tree.enter_part(self.node, "Lbl")
            draw_lines(canvas, (self.number,), left, y + down, self.node)
            if tree is not None:
                tree.leave()
        self.content.draw(canvas, x if is_rtl else x + self.hanging_indent, y)


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
        height = fragment.height
        if not node.children:
            height = line_metrics(node.style.text, node.style.paragraph, context.fonts)[0]
        shown = number if at is None else None
        return NoteFragment(node, fragment, shown, hanging_indent, inner.width, height)

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
