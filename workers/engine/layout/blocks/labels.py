"""The number before a paragraph, and the leader and page number after an entry of contents."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from math import ceil, floor, inf
from typing import Final

from workers.engine.layout.context import LayoutContext, PageCanvas, plain_text
from workers.engine.layout.display import LinkArea, Stroke
from workers.engine.layout.lines.breaking import break_lines
from workers.engine.layout.lines.drawing import draw_lines, draw_text
from workers.engine.layout.lines.fragments import (
    GlyphStyle,
    InlineFragment,
    Line,
    line_metrics,
    make_glyph_style,
)
from workers.engine.layout.references import PageReferences
from workers.engine.tree.memo import Kind, Lifetime
from workers.engine.tree.nodes import Label, Leader, Paragraph, ParagraphExtras, Role, TextRun
from workers.engine.tree.styles.computed import Align, TextStyle, WhiteSpace
from workers.engine.units import ZERO

NUMBER_GAP: Final = 0.25  # em, in addition to the space between a number and its text
PAGE_GAP: Final = 1.2  # em, the minimum between an entry and its page number
_LEADER_GAP: Final = 0.35  # em, at both ends of a leader
_DOT_SIZE: Final = 0.085  # em
_DOT_PITCH: Final = 0.45  # em, between the starts of dots
_MIN_WIDTH: Final = 1.0  # em, of text beside a number


@dataclass(slots=True)
class LabelLayout:
    """The space for labels beside the lines of a paragraph at one width, in points.

    `hanging_indent` is reserved for the number beside all lines, `lead` before the first line only,
    and `page_number_width` for the page number at the end of lines.
    """

    paragraph: Paragraph
    width: float
    label: Line | None = None
    hanging_indent: float = 0.0
    lead: float = 0.0
    page_number_width: float = 0.0
    page_number_style: GlyphStyle | None = None

    @property
    def room(self) -> float:
        """The width left for lines, in points."""
        return max(self.width - self.hanging_indent - self.page_number_width, 0.0)

    @property
    def shift(self) -> float:
        """The distance from the left edge to the lines, in points."""
        return (
            self.page_number_width if self.paragraph.style.paragraph.is_rtl else self.hanging_indent
        )


_LABELS: Final[Kind[tuple[Paragraph, float], LabelLayout]] = Kind(Lifetime.DIGITS)


def find_label_layout(context: LayoutContext, node: Paragraph, width: float) -> LabelLayout:
    """Return the label layout of a paragraph at a width, cached until page numbers grow."""
    return context.memo.remember(
        _LABELS, (node, width), lambda: _compute_layout(context, node, width)
    )


def draw_label(
    canvas: PageCanvas, label_layout: LabelLayout, first: Line, x: float, y: float
) -> None:
    """Draw the number before the first line of a paragraph whose upper left corner is at a point."""
    label, node = label_layout.label, label_layout.paragraph
    if label is None or canvas.is_dry_run:
        return
    is_rtl = node.style.paragraph.is_rtl
    start = x + label_layout.shift
    if label_layout.hanging_indent:
        left = x + label_layout.width - label.width if is_rtl else x
    elif is_rtl:
        left = start + first.x + first.width + NUMBER_GAP * node.style.text.size
    else:
        left = start + first.x - label_layout.lead
    # An entry of contents is a link as a whole, its number included.
    with nullcontext() if node.role is Role.CONTENTS_ENTRY else canvas.part(node, "Lbl"):
        draw_lines(canvas, (label,), left - label.x, y + first.baseline - label.baseline, node)


def draw_page_number(
    canvas: PageCanvas,
    label_layout: LabelLayout,
    leader: Leader,
    state: PageReferences,
    line: Line,
    at: tuple[float, float],
) -> None:
    """Draw the leader and page number of an entry beside its last line."""
    glyph_style, node = label_layout.page_number_style, label_layout.paragraph
    if glyph_style is None or canvas.is_dry_run:
        return
    x, baseline = at
    text = state.page_text(leader.target)
    width = glyph_style.measure(text)
    size = glyph_style.style.size
    gap = _LEADER_GAP * size
    begin = x + label_layout.shift + line.x
    if node.style.paragraph.is_rtl:
        _draw_leader(canvas, leader, glyph_style.style, x, (x + width + gap, begin - gap), baseline)
        left = x
    else:
        left = x + label_layout.width - width
        ends = begin + line.width + gap, left - gap
        _draw_leader(canvas, leader, glyph_style.style, x + label_layout.width, ends, baseline)
    draw_text(canvas, glyph_style, text, left, baseline, canvas.owner_of(node))


def add_entry_link(
    canvas: PageCanvas, label_layout: LabelLayout, leader: Leader, y: float, x: float, height: float
) -> None:
    """Link the lines of an entry to its title."""
    owner = None
    tree = canvas.tree
    if tree is not None:
        owner = tree.link_of(tree.current)
        tree.texts.setdefault(owner, [plain_text(label_layout.paragraph.inlines)])
    canvas.add_link(LinkArea(x, y, label_layout.width, height, f"#{leader.target}", owner))


def measure_label(context: LayoutContext, style: TextStyle, text: str) -> float:
    """Return the width of a number and the gap after it, in points."""
    widths = (
        make_glyph_style(style, face, text=part).measure(part)
        for face, part in context.fonts.split(style, f"{text} ")
    )
    return sum(widths) + NUMBER_GAP * style.size


def _compute_layout(context: LayoutContext, node: Paragraph, width: float) -> LabelLayout:
    extra: ParagraphExtras | None = node.extra
    label_layout = LabelLayout(node, width)
    if extra is None:
        return label_layout
    if extra.label is not None:
        _add_label(context, label_layout, extra.label)
    if extra.leader is not None and context.references is not None:
        style = node.style.text
        face = context.fonts.split(style, "0")[0][0]
        label_layout.page_number_style = glyph_style = make_glyph_style(style, face)
        label_layout.page_number_width = (
            glyph_style.measure("0" * context.references.digits) + PAGE_GAP * style.size
        )
        label_layout.page_number_width = min(
            label_layout.page_number_width, max(width - label_layout.hanging_indent, 0.0)
        )
    return label_layout


def _add_label(context: LayoutContext, label_layout: LabelLayout, label: Label) -> None:
    node, size = label_layout.paragraph, label_layout.paragraph.style.text.size
    label_layout.label = line = _label_line(context, node, f"{label.text} ")
    advance = line.width + NUMBER_GAP * size
    if label.width is not None:
        label_layout.hanging_indent = min(
            label.width, max(label_layout.width - _MIN_WIDTH * size, ZERO.value)
        )
    label_layout.lead = max(advance - label_layout.hanging_indent, 0.0)


def _label_line(context: LayoutContext, node: Paragraph, text: str) -> Line:
    """Return a number as a line; plain text in one face takes a short cut."""
    own, paragraph = node.style.text, node.style.paragraph
    faces = context.fonts.split(own, text)
    if len(faces) == 1 and text.isascii() and not paragraph.is_rtl:
        glyph_style = make_glyph_style(own, faces[0][0], text=text)
        width = glyph_style.measure(text)
        height, baseline = line_metrics(own, paragraph, context.fonts)
        return Line(
            0.0, 0.0, height, baseline, width, (InlineFragment(0.0, width, text, glyph_style),)
        )
    context.report_missing_glyphs(text, node.source)
    style = replace(paragraph, align=Align.LEFT, indent=0.0, white_space=WhiteSpace.NOWRAP)
    return break_lines(context, (TextRun(text, own),), base=own, style=style, width=inf).lines[0]


def _draw_leader(
    canvas: PageCanvas,
    leader: Leader,
    style: TextStyle,
    edge: float,
    ends: tuple[float, float],
    baseline: float,
) -> None:
    """Draw a dotted or solid leader between two x coordinates; dots align on a grid that ends at `edge`."""
    start, end = ends
    if leader.kind == "none" or end - start < _DOT_PITCH * style.size:
        return
    thickness = _DOT_SIZE * style.size
    y = baseline - thickness / 2
    dash: tuple[float, ...] = ()
    if leader.kind == "dot":
        pitch = _DOT_PITCH * style.size
        start = edge - floor((edge - start) / pitch) * pitch
        end = edge - ceil((edge - end) / pitch) * pitch + thickness
        dash = (thickness, pitch - thickness)
    else:
        thickness = max(thickness / 2, 0.25)
        y = baseline - thickness / 2
    if end > start:
        canvas.items.append(Stroke(start, y, end, y, thickness, style.color, None, dash))
