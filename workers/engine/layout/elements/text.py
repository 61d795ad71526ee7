"""Paragraphs and rules: text that breaks between lines, and lines across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple

from workers.engine.layout.context import (
    EPSILON,
    Context,
    Misfit,
    Piece,
    Resume,
    Sheet,
    Space,
    cut_excerpt,
    words_of,
)
from workers.engine.layout.crossings import CrossState
from workers.engine.layout.display import Item
from workers.engine.layout.ellipsis import end_in_dots
from workers.engine.layout.frames import draw_border, lay_out_framed, outer_widths
from workers.engine.layout.labels import Beside, draw_label, draw_page, find_beside, link_entry
from workers.engine.layout.lines import (
    Line,
    Lines,
    Place,
    break_lines,
    draw_lines,
    measure_inlines,
)
from workers.engine.layout.lines.hyphenation import can_hyphenate
from workers.engine.tree.nodes import Inline, Paragraph, Role, Rule, Run, Source
from workers.engine.units import LengthKind


class LineResume(NamedTuple):
    """Where a paragraph goes on: at a line of the lines that are broken to a width from a place on."""

    start: Place | None
    width: float
    line: int


@dataclass(slots=True)
class LinesPiece:
    """Some lines of a paragraph; `resume` is the line that follows (`LineResume`)."""

    node: Paragraph
    lines: Lines
    first: int
    last: int
    height: float
    resume: Resume
    misfit: Misfit | None = None
    forced: str = ""
    beside: Beside | None = None
    crossings: CrossState | None = None
    is_start: bool = True

    @property
    def first_baseline(self) -> float | None:
        """Give the distance down to the first line's baseline."""
        if self.first >= self.last:
            return None
        return self.lines.lines[self.first].baseline

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw the lines."""
        if self.misfit is not None:
            sheet.report(self.misfit)
        lines = self.lines.lines[self.first : self.last]
        if self.beside is None:
            draw_lines(sheet, lines, x, y, self.node)
        else:
            self._draw_beside(sheet, self.beside, lines, x, y)

    def _draw_beside(
        self, sheet: Sheet, beside: Beside, lines: Sequence[Line], x: float, y: float
    ) -> None:
        """Draw the lines with the number before them and the page after them."""
        if self.is_start and lines:
            draw_label(sheet, beside, lines[0], x, y)
        draw_lines(sheet, lines, x + beside.shift, y, self.node)
        leader = self.node.extra.leader if self.node.extra else None
        if leader is None or self.crossings is None or not lines:
            return
        link_entry(sheet, beside, leader, y, x, self.height)
        if self.resume is None:
            end = lines[-1]
            at = x, y + end.y - lines[0].y + end.baseline
            draw_page(sheet, beside, leader, self.crossings, end, at)

    def shorten(self, room: float, *, is_cut: bool = False) -> LinesPiece | None:
        """Give the lines that stand in a height; the last ends in … where others are left out.

        So does a line that is too wide.
        """
        own, align = self.lines, self.node.style.paragraph.align
        width = own.width
        fitting = min(own.count_fitting(self.first, room), self.last - self.first)
        is_cut = is_cut or fitting < self.last - self.first
        if not is_cut and not own.widest:
            return self
        if fitting <= 0:
            return None
        kept, limit = own.lines[self.first : self.first + fitting], width + EPSILON
        lines = tuple(
            end_in_dots(line, width, align)
            if (is_cut and number == fitting - 1) or max(line.x, 0.0) + line.width > limit
            else line
            for number, line in enumerate(kept)
        )
        height = own.height_of(self.first, self.first + fitting)
        return replace(
            self,
            lines=Lines(lines, width=width),
            first=0,
            last=fitting,
            height=height,
            resume=None,
            misfit=None,
        )

    def crossing(self, room: float) -> tuple[Source, str] | None:
        """Give the paragraph itself, with its first words."""
        if self.height <= room:
            return None
        return self.node.source, cut_excerpt(words_of(self.node.inlines))


@dataclass(slots=True)
class RulePiece:
    """A rule across its container."""

    node: Rule
    width: float
    height: float
    resume: Resume = None
    forced: str = ""
    first_baseline: float | None = None

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw the rule through the middle of its height."""
        middle = y + self.height / 2
        items: list[Item] = sheet.items
        owner = None  # a rule is decoration (PDF 2.0, 14.8.2.2: artifact)
        draw_border(items, self.node.line, (x, middle), (x + self.width, middle), owner)


def lay_out_paragraph(
    context: Context, node: Paragraph, space: Space, resume: Resume
) -> Piece | None:
    """Lay out as many lines as fit, minding orphans and widows."""
    return lay_out_framed(
        context, node, space, resume, lambda inner, at: _lay_out_lines(context, node, inner, at)
    )


def lay_out_rule(context: Context, node: Rule, space: Space, resume: Resume) -> Piece | None:
    """Lay out a rule."""
    return lay_out_framed(
        context,
        node,
        space,
        resume,
        lambda inner, _: RulePiece(node, inner.width, node.line.width),
    )


def measure_paragraph(context: Context, node: Paragraph) -> tuple[float, float]:
    """Give the widths of the widest word and of the text on one line, box included."""
    if node.extra is None:
        narrowest, widest = measure_inlines(context, node.inlines, node.style.paragraph)
        return outer_widths(node.style.box, narrowest, widest)
    beside = find_beside(context, node, inf)
    edges = beside.hang + beside.reserve
    inlines = _resolved(context, node)
    if inlines is not node.inlines and context.crossings is not None:
        context.crossings.is_measured = True
    narrowest, widest = measure_inlines(context, inlines, node.style.paragraph)
    return outer_widths(node.style.box, narrowest + edges, widest + edges + beside.lead)


def measure_rule(_context: Context, node: Rule) -> tuple[float, float]:
    """Give the width of a rule's box: a rule takes what there is."""
    return outer_widths(node.style.box, 0.0, 0.0)


def _lay_out_lines(
    context: Context, node: Paragraph, space: Space, resume: Resume
) -> LinesPiece | None:
    beside = None if node.extra is None else find_beside(context, node, space.width)
    width = space.width if beside is None else beside.room
    lead = 0.0 if beside is None else beside.lead
    start, first = _find_start(context, node, width, resume, lead)
    lines = _lines_of(context, node, width, start, lead=lead)
    count = len(lines.lines)
    last = _last_line(node, lines, first, space, is_start=resume is None)
    if last is None:
        return None
    height = lines.height_of(first, last)
    going_on = None if last == count else LineResume(start, width, last)
    piece = LinesPiece(node, lines, first, last, height, going_on)
    if beside is not None:
        piece.beside, piece.crossings, piece.is_start = beside, context.crossings, resume is None
    if first == 0 and lines.widest:
        piece.misfit = _too_wide(context, node, lines, width)
    elif height > space.height + EPSILON:
        piece.misfit = context.too_tall(node.source, need=height, room=space.height)
    return piece


def _find_start(
    context: Context, node: Paragraph, width: float, resume: LineResume | None, lead: float
) -> tuple[Place | None, int]:
    """Find where the lines of a width are broken from, and the line to go on with.

    In an area of another width what is left of a paragraph is broken anew.
    """
    if resume is None:
        return None, 0
    if resume.width == width:
        return resume.start, resume.line
    before = _lines_of(context, node, resume.width, resume.start, lead=lead)
    return before.place_of(resume.line, resume.start), 0


def _last_line(
    node: Paragraph, lines: Lines, first: int, space: Space, *, is_start: bool
) -> int | None:
    """Find where to end so that enough lines stand before and after the break, None for nowhere."""
    count = len(lines.lines)
    if space.height == inf:
        return count
    fitting = lines.count_fitting(first, space.height)
    left = count - first
    if fitting >= left:
        return count
    style = node.style.paragraph
    kept = min(fitting, left - style.widows)
    needed = style.orphans if is_start else 1
    if kept >= needed:
        return first + kept
    if not space.is_top:
        return None
    return first + max(fitting, 1)


def _lines_of(
    context: Context,
    node: Paragraph,
    width: float,
    start: Place | None = None,
    *,
    lead: float = 0.0,
) -> Lines:
    kept: Lines | None = context.lines.get(id(node))
    is_first = kept is None or kept.owner is not node
    texts: tuple[str, ...] = ()
    if node.extra is not None and node.extra.refers and context.crossings is not None:
        texts = context.crossings.texts_in(node.inlines)
        if kept is not None and kept.texts != texts:
            is_first = True
    if kept is not None and not is_first and kept.width == width and kept.start == start:
        return kept
    key = ("lines", id(node), width, start, texts)
    if not is_first and (other := context.memory.get(key)) is not None:
        again: Lines = other
        return again
    if start is None:
        _tell_missing_glyphs(context, node)
        _warn_of_unknown_hyphens(context, node)
    style = node.style
    context.path.append(node.source)
    lines = break_lines(
        context,
        _resolved(context, node),
        base=style.text,
        style=style.paragraph,
        width=width,
        start=start,
        lead=lead,
    )
    context.path.pop()
    lines.texts = texts
    lines.owner = node  # which keeps it, and its identity, as long as the lines
    if is_first:
        context.lines[id(node)] = lines
    else:
        context.memory[key] = lines
    return lines


def _resolved(context: Context, node: Paragraph) -> Sequence[Inline]:
    """Return the inline content of a paragraph, its references written out."""
    if node.extra is None or not node.extra.refers or context.crossings is None:
        return node.inlines
    return context.crossings.resolve(node.inlines)


def _tell_missing_glyphs(context: Context, node: Paragraph) -> None:
    for inline in _resolved(context, node):
        if isinstance(inline, Run) and not inline.text.isascii():
            context.tell_missing(inline.text, node.source)


def _warn_of_unknown_hyphens(context: Context, node: Paragraph) -> None:
    if node.style.paragraph.hyphens != "auto":
        return
    langs = {inline.style.lang for inline in node.inlines if isinstance(inline, Run)}
    for lang in sorted(langs):
        if not can_hyphenate(lang) and ("hyphens", lang) not in context.memory:
            context.memory["hyphens", lang] = True
            context.findings.warn(
                "no-hyphenation",
                f'There are no hyphenation patterns for the language "{lang}"; '
                "only soft hyphens break its words",
                node.source.place,
            )


def _too_wide(context: Context, node: Paragraph, lines: Lines, room: float) -> Misfit:
    is_code = node.role is Role.CODE
    return context.too_wide(
        node.source,
        need=lines.widest,
        room=room,
        excerpt=cut_excerpt(lines.widest_text),
        advice='Break the lines of the text, make the text smaller, or let it wrap: white-space="pre-wrap".'
        if is_code
        else 'Make room for it, or let it wrap: white-space="normal", overflow-wrap="anywhere".',
        is_own_limit=_limits_itself(context, node),
    )


def _limits_itself(context: Context, node: Paragraph) -> bool:
    """Tell whether text is too wide for its own element, not for what that stands in.

    Loose text and the text of a cell name the element around them as their own.
    """
    box = node.style.box
    if box.width.kind is not LengthKind.AUTO or box.max_width is not None:
        return True
    is_loose = bool(context.path) and context.path[-1].place == node.source.place
    return is_loose or node.source.place.tag_name in ("td", "th")
