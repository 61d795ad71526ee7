"""What stands beside the lines of a paragraph: its number, and the page at the end of an entry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, floor, inf
from typing import Final

from workers.engine.layout.context import Context, Sheet
from workers.engine.layout.crossings import CrossState
from workers.engine.layout.display import LinkArea, Stroke
from workers.engine.layout.lines import (
    Line,
    Look,
    Part,
    break_lines,
    draw_lines,
    draw_text,
    line_metrics,
)
from workers.engine.tree.nodes import Extra, Label, Leader, Paragraph, Run
from workers.engine.tree.styles import Align, TextStyle, WhiteSpace
from workers.engine.units import ZERO

NUMBER_GAP: Final = 0.25  # em, beside the space that parts a number from the text after it
PAGE_GAP: Final = 1.2  # em, at least between an entry and its page
_LEADER_GAP: Final = 0.35  # em, at both ends of a leader
_DOT: Final = 0.085  # em
_PITCH: Final = 0.45  # em, from dot to dot
_LEAST_ROOM: Final = 1.0  # em, for text beside a number


@dataclass(slots=True)
class Beside:
    """What stands beside the lines at one width, in points.

    `hang` is kept for the number beside all lines, `lead` before the first alone; `reserve` is kept
    for the page at the ends of lines.
    """

    owner: Paragraph
    width: float
    label: Line | None = None
    hang: float = 0.0
    lead: float = 0.0
    reserve: float = 0.0
    page_look: Look | None = None

    @property
    def room(self) -> float:
        """Return the width that is left for lines."""
        return max(self.width - self.hang - self.reserve, 0.0)

    @property
    def shift(self) -> float:
        """Return how far from the left the lines begin."""
        return self.reserve if self.owner.style.paragraph.is_rtl else self.hang


def find_beside(context: Context, node: Paragraph, width: float) -> Beside:
    """Work out what stands beside the lines of a paragraph; kept until pages change."""
    key = ("beside", id(node), width)
    known: Beside | None = context.memory.get(key)
    if known is None or known.owner is not node:
        known = context.memory[key] = _work_out(context, node, width)
    return known


def draw_label(sheet: Sheet, beside: Beside, first: Line, x: float, y: float) -> None:
    """Draw the number before the first line, whose paragraph begins at a point."""
    label, node = beside.label, beside.owner
    if label is None or sheet.is_tracing:
        return
    is_rtl = node.style.paragraph.is_rtl
    start = x + beside.shift
    if beside.hang:
        left = x + beside.width - label.width if is_rtl else x
    elif is_rtl:
        left = start + first.x + first.width + NUMBER_GAP * node.style.text.size
    else:
        left = start + first.x - beside.lead
    draw_lines(sheet, (label,), left - label.x, y + first.baseline - label.baseline, node)


def draw_page(
    sheet: Sheet,
    beside: Beside,
    leader: Leader,
    state: CrossState,
    line: Line,
    at: tuple[float, float],
) -> None:
    """Draw the page of an entry at the end of its last line, whose baseline is at a height."""
    look, node = beside.page_look, beside.owner
    if look is None or sheet.is_tracing:
        return
    x, baseline = at
    text = state.page_text(leader.target)
    width = look.measure(text)
    size = look.style.size
    gap = _LEADER_GAP * size
    begin = x + beside.shift + line.x
    if node.style.paragraph.is_rtl:
        _draw_leader(sheet, leader, look.style, x, (x + width + gap, begin - gap), baseline)
        left = x
    else:
        left = x + beside.width - width
        ends = begin + line.width + gap, left - gap
        _draw_leader(sheet, leader, look.style, x + beside.width, ends, baseline)
    draw_text(sheet, look, text, left, baseline, sheet.owner(node))


def link_entry(
    sheet: Sheet, beside: Beside, leader: Leader, y: float, x: float, height: float
) -> None:
    """Make the lines of an entry lead to its title."""
    sheet.link(LinkArea(x, y, beside.width, height, f"#{leader.target}"))


def measure_label(context: Context, style: TextStyle, text: str) -> float:
    """Return the width of a number with the gap after it."""
    widths = (
        face.measure(part) * style.size + style.letter_spacing * len(part)
        for face, part in context.fonts.split(style, f"{text} ")
    )
    return sum(widths) + NUMBER_GAP * style.size


def _work_out(context: Context, node: Paragraph, width: float) -> Beside:
    extra: Extra | None = node.extra
    beside = Beside(node, width)
    if extra is None:
        return beside
    if extra.label is not None:
        _add_label(context, beside, extra.label)
    if extra.leader is not None and context.crossings is not None:
        style = node.style.text
        face = context.fonts.split(style, "0")[0][0]
        beside.page_look = look = Look(style, face, None)
        beside.reserve = look.measure("0" * context.crossings.digits) + PAGE_GAP * style.size
        beside.reserve = min(beside.reserve, max(width - beside.hang, 0.0))
    return beside


def _add_label(context: Context, beside: Beside, label: Label) -> None:
    node, size = beside.owner, beside.owner.style.text.size
    beside.label = line = _label_line(context, node, f"{label.text} ")
    advance = line.width + NUMBER_GAP * size
    if label.width is not None:
        beside.hang = min(label.width, max(beside.width - _LEAST_ROOM * size, ZERO.value))
    beside.lead = max(advance - beside.hang, 0.0)


def _label_line(context: Context, node: Paragraph, text: str) -> Line:
    """Return a number as a line of its own; most are plain text of one face."""
    own, paragraph = node.style.text, node.style.paragraph
    faces = context.fonts.split(own, text)
    if len(faces) == 1 and text.isascii() and not paragraph.is_rtl:
        look = Look(own, faces[0][0], None)
        width = look.measure(text)
        height, baseline = line_metrics(own, paragraph, context.fonts)
        return Line(0.0, 0.0, height, baseline, width, (Part(0.0, width, text, look),))
    context.tell_missing(text, node.source)
    style = replace(paragraph, align=Align.LEFT, indent=0.0, white_space=WhiteSpace.NOWRAP)
    return break_lines(context, (Run(text, own),), base=own, style=style, width=inf).lines[0]


def _draw_leader(
    sheet: Sheet,
    leader: Leader,
    style: TextStyle,
    edge: float,
    ends: tuple[float, float],
    baseline: float,
) -> None:
    """Draw dots or a line between two places; dots stand on a grid that ends at an edge."""
    start, end = ends
    if leader.kind == "none" or end - start < _PITCH * style.size:
        return
    thickness = _DOT * style.size
    y = baseline - thickness / 2
    dash: tuple[float, ...] = ()
    if leader.kind == "dot":
        pitch = _PITCH * style.size
        start = edge - floor((edge - start) / pitch) * pitch
        end = edge - ceil((edge - end) / pitch) * pitch + thickness
        dash = (thickness, pitch - thickness)
    else:
        thickness = max(thickness / 2, 0.25)
        y = baseline - thickness / 2
    if end > start:
        sheet.items.append(Stroke(start, y, end, y, thickness, style.color, None, dash))
