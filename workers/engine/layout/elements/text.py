"""Paragraphs and horizontal rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Final, NamedTuple

from workers.engine.characters import ELLIPSIS, cut_to_width
from workers.engine.diagnostics import Severity
from workers.engine.layout.blocks.boxes import draw_border, lay_out_box, outer_widths
from workers.engine.layout.blocks.labels import (
    LabelLayout,
    add_entry_link,
    draw_label,
    draw_page_number,
    find_label_layout,
)
from workers.engine.layout.context import (
    EPSILON,
    Fragment,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    Region,
    Resume,
    UnbrokenFragment,
    describe_element,
    format_mm,
    plain_text,
    shorten_value,
)
from workers.engine.layout.display import Item, Owner
from workers.engine.layout.lines.breaking import break_lines, measure_inlines, remember_lines
from workers.engine.layout.lines.building import reorder_fragments
from workers.engine.layout.lines.drawing import draw_lines
from workers.engine.layout.lines.fragments import (
    AtomicInline,
    BrokenFigure,
    GlyphStyle,
    InlineFragment,
    InlinePosition,
    Line,
    Lines,
    find_shift,
    fit_line_height,
    place_on_grid,
)
from workers.engine.layout.lines.horizontal_lists import DISCRETIONARY
from workers.engine.layout.lines.hyphenation import can_hyphenate
from workers.engine.layout.lines.initial_letters import has_initial_letter
from workers.engine.layout.pictures import find_fallback
from workers.engine.layout.references import PageReferences
from workers.engine.tree.memo import Kind
from workers.engine.tree.nodes import (
    Image,
    Inline,
    InlineBlock,
    Paragraph,
    Role,
    Rule,
    Source,
    TextRun,
)
from workers.engine.tree.styles.computed import Align, ParagraphStyle
from workers.engine.units import LengthKind


def add_ellipsis(line: Line, width: float, align: Align) -> Line:
    """Return a line that ends in …, no wider than `width`; a line without text is unchanged."""
    indent = line.x if align in (Align.LEFT, Align.JUSTIFY) else 0.0
    room = width - indent + EPSILON
    parts = _without_justification(line.fragments)
    while parts:
        last = parts.pop()
        if isinstance(last.glyph_style, AtomicInline):
            continue
        cut = _truncate_text(last, room)
        if cut is not None or not parts:
            parts.append(
                cut or last._replace(text=ELLIPSIS, width=last.glyph_style.measure(ELLIPSIS))
            )
            break
    if not parts:
        return line
    used = parts[-1].x + parts[-1].width
    slack = width - indent - used
    shift = {Align.RIGHT: slack, Align.DECIMAL: slack, Align.CENTER: slack / 2}.get(align, 0.0)
    placed = (
        reorder_fragments(tuple(parts))
        if any(part.glyph_style.level for part in parts)
        else tuple(parts)
    )
    return line._replace(
        x=indent + shift, width=used, fragments=placed, word_spacing=0.0, boundary=0
    )


def _without_justification(parts: tuple[InlineFragment, ...]) -> list[InlineFragment]:
    """Return the fragments of a line at their natural widths."""
    closed: list[InlineFragment] = []
    x = 0.0
    for part in parts:
        width = (
            part.width
            if isinstance(part.glyph_style, AtomicInline)
            else part.glyph_style.measure(part.text)
        )
        closed.append(InlineFragment(x, width, part.text, part.glyph_style))
        x += width
    return closed


def _truncate_text(part: InlineFragment, room: float) -> InlineFragment | None:
    """Shorten a text so that … fits behind it; None when no character is left."""
    glyph_style = part.glyph_style
    assert isinstance(glyph_style, GlyphStyle)
    text = cut_to_width(part.text, glyph_style.measure, room - part.x)
    return part._replace(text=text, width=glyph_style.measure(text)) if text else None


class LineResume(NamedTuple):
    """A position in a paragraph: a line of the lines that are broken to a width from `start` on."""

    start: InlinePosition | None
    width: float
    line: int


@dataclass(slots=True)
class LinesFragment:
    """Some lines of a paragraph."""

    node: Paragraph
    lines: Lines
    first: int
    last: int
    height: float
    resume: Resume
    problem: LayoutProblem | None = None
    forced: str = ""
    label_layout: LabelLayout | None = None
    references: PageReferences | None = None
    is_start: bool = True
    shift: float = 0.0  # from its top to that of its lines, to the line grid

    @property
    def first_baseline(self) -> float | None:
        """The distance from the top to the first baseline, in points, None without text."""
        if self.first >= self.last:
            return None
        return self.shift + self.lines.lines[self.first].baseline

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the lines."""
        if self.problem is not None:
            canvas.report(self.problem)
        lines = self.lines.lines[self.first : self.last]
        y += self.shift
        if self.label_layout is None:
            draw_lines(canvas, lines, x, y, self.node)
        else:
            self._draw_with_labels(canvas, self.label_layout, lines, x, y)

    def _draw_with_labels(
        self,
        canvas: PageCanvas,
        label_layout: LabelLayout,
        lines: Sequence[Line],
        x: float,
        y: float,
    ) -> None:
        """Draw the lines with their number and page number."""
        if self.is_start and lines:
            draw_label(canvas, label_layout, lines[0], x, y)
        draw_lines(canvas, lines, x + label_layout.shift, y, self.node)
        leader = self.node.extra.leader if self.node.extra else None
        if leader is None or self.references is None or not lines:
            return
        add_entry_link(canvas, label_layout, leader, y, x, self.height)
        if self.resume is None:
            end = lines[-1]
            at = x, y + end.y - lines[0].y + end.baseline
            draw_page_number(canvas, label_layout, leader, self.references, end, at)

    def truncate(self, room: float, *, is_cut: bool = False) -> LinesFragment | None:
        """Return the lines that fit into a height; the last ends in … if any is left out.

        A line that is too wide ends in … as well.
        """
        own, align = self.lines, self.node.style.paragraph.align
        width = own.width
        fitting = min(own.count_fitting(self.first, room - self.shift), self.last - self.first)
        is_cut = is_cut or fitting < self.last - self.first
        if not is_cut and not own.widest:
            return self
        if fitting <= 0 or (self.is_start and fitting < own.together):
            return None
        own.is_copied = True
        kept, limit = own.lines[self.first : self.first + fitting], width + EPSILON
        lines = tuple(
            add_ellipsis(line, width, align)
            if (is_cut and number == fitting - 1) or max(line.x, 0.0) + line.width > limit
            else line
            for number, line in enumerate(kept)
        )
        height = self.shift + own.height_of(self.first, self.first + fitting)
        return replace(
            self,
            lines=Lines(lines, width=width),
            first=0,
            last=fitting,
            height=height,
            resume=None,
            problem=None,
        )

    def find_overflow(self, room: float) -> tuple[Source, str] | None:
        """Return the paragraph itself, with its first words."""
        if self.height <= room:
            return None
        return self.node.source, shorten_value(plain_text(self.node.inlines))


@dataclass(frozen=True, slots=True)
class ShownLines:
    """Lines of a paragraph with references in a filled area."""

    node: Paragraph
    lines: Lines
    lead: float

    def still_shows(self, context: LayoutContext) -> bool:
        """Return whether the lines show what they should, or can where they are."""
        node, lines = self.node, self.lines
        assert context.references is not None
        if context.references.texts_of(node.inlines) == lines.texts:
            return True
        # The rest of a paragraph starts elsewhere once its text differs, and outlines are text too.
        is_fixed = lines.start is not None or lines.is_copied or node.outline is not None
        if is_fixed or node.style.paragraph.line_grid is not None:
            return False
        again = _lines_of(context, node, lines.width, lead=self.lead)
        if not again.is_like(lines):
            return False
        lines.replace(again)
        return True


@dataclass(slots=True)
class RuleFragment(UnbrokenFragment):
    """A rule across its container."""

    node: Rule
    width: float
    height: float

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the rule through the middle of its height."""
        middle = y + self.height / 2
        items: list[Item] = canvas.items
        owner: Owner = None  # a rule is an artifact (ISO 32000-2, 14.8.2.2)
        draw_border(items, self.node.border, (x, middle), (x + self.width, middle), owner)


def lay_out_paragraph(
    context: LayoutContext, node: Paragraph, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out as many lines as fit, with regard to orphans and widows."""
    return lay_out_box(
        context, node, region, resume, lambda inner, at: _lay_out_lines(context, node, inner, at)
    )


def lay_out_rule(
    context: LayoutContext, node: Rule, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out a rule."""
    return lay_out_box(
        context,
        node,
        region,
        resume,
        lambda inner, _: RuleFragment(node, inner.width, node.border.width),
    )


def measure_paragraph(context: LayoutContext, node: Paragraph) -> tuple[float, float]:
    """Return the widths of the widest word and of the text on one line, box included, in points."""
    if node.extra is None:
        min_content, max_content = measure_inlines(
            context, _resolved(context, node), node.style.text, node.style.paragraph
        )
        return outer_widths(node.style.box, min_content, max_content)
    label_layout = find_label_layout(context, node, inf)
    edges = label_layout.hanging_indent + label_layout.page_number_width
    inlines = _resolved(context, node)
    if node.extra.has_references and context.references is not None:
        context.references.affects_widths = True
    min_content, max_content = measure_inlines(
        context, inlines, node.style.text, node.style.paragraph
    )
    return outer_widths(
        node.style.box, min_content + edges, max_content + edges + label_layout.lead
    )


def measure_rule(_context: LayoutContext, node: Rule) -> tuple[float, float]:
    """Return the width of a rule's box: a rule takes the available width."""
    return outer_widths(node.style.box, 0.0, 0.0)


def _lay_out_lines(
    context: LayoutContext, node: Paragraph, region: Region, resume: Resume
) -> LinesFragment | None:
    label_layout = None if node.extra is None else find_label_layout(context, node, region.width)
    width = region.width if label_layout is None else label_layout.room
    lead = 0.0 if label_layout is None else label_layout.lead
    start, first = _find_start(context, node, region, width, resume, lead)
    is_on_grid = region.top is not None
    lines = _lines_of(context, node, width, start, lead=lead, is_on_grid=is_on_grid)
    count = len(lines.lines)
    shift = _find_shift(context, node, lines, first, region.top)
    room = region._replace(height=region.height - shift) if shift else region
    last = _last_line(node, lines, first, room, is_start=resume is None)
    if last is None:
        return None
    height = shift + lines.height_of(first, last)
    going_on = None if last == count else LineResume(start, width, last)
    fragment = LinesFragment(node, lines, first, last, height, going_on, shift=shift)
    if label_layout is not None:
        fragment.label_layout, fragment.references, fragment.is_start = (
            label_layout,
            context.references,
            resume is None,
        )
    if first == 0 and lines.widest:
        fragment.problem = _too_wide(context, node, lines, width)
    elif height > region.height + EPSILON:
        fragment.problem = context.too_tall(node.source, needed=height, available=region.height)
    elif first == 0 and lines.broken is not None:
        fragment.problem = _describe_broken(context, node, lines.broken, width)
    return fragment


def _find_shift(
    context: LayoutContext, node: Paragraph, lines: Lines, first: int, top: float | None
) -> float:
    """Return the distance that the first line moves down to the line grid, in points."""
    style = node.style.paragraph
    if style.line_grid is None or top is None or first >= len(lines.lines):
        return 0.0
    return find_shift(
        style.line_grid, style, context.fonts, top=top, baseline=lines.lines[first].baseline
    )


def _find_start(
    context: LayoutContext,
    node: Paragraph,
    region: Region,
    width: float,
    resume: LineResume | None,
    lead: float,
) -> tuple[InlinePosition | None, int]:
    """Return the position from which lines are broken at a width, and the first line to place.

    In an area of another width the rest of a paragraph is broken again.
    """
    if resume is None:
        return None, 0
    if resume.width == width:
        return resume.start, resume.line
    is_on_grid = region.top is not None
    before = _lines_of(context, node, resume.width, resume.start, lead=lead, is_on_grid=is_on_grid)
    return before.position_of(resume.line, resume.start), 0


def _last_line(
    node: Paragraph, lines: Lines, first: int, region: Region, *, is_start: bool
) -> int | None:
    """Return the line to end before so that orphans and widows are respected, None if there is none."""
    count = len(lines.lines)
    if region.height == inf:
        return count
    fitting = lines.count_fitting(first, region.height)
    left = count - first
    if fitting >= left:
        return count
    style = node.style.paragraph
    kept = min(fitting, left - style.widows)
    together = lines.together if is_start else 1
    needed = max(style.orphans, together) if is_start else 1
    if kept >= needed:
        return first + (_without_hyphen(style, lines, first, kept) if kept > needed else kept)
    if not region.is_top:
        return None
    return first + max(fitting, together)


def _without_hyphen(style: ParagraphStyle, lines: Lines, first: int, kept: int) -> int:
    """Return one line less where the last one before the break ends in a hyphen, unless that one does too."""
    if style.hyphen_limits.last == "none":
        return kept
    last = lines.lines[first + kept - 1]
    before = lines.lines[first + kept - 2]
    is_better = last.boundary == DISCRETIONARY != before.boundary
    return kept - 1 if is_better else kept


def _lines_of(
    context: LayoutContext,
    node: Paragraph,
    width: float,
    start: InlinePosition | None = None,
    *,
    lead: float = 0.0,
    is_on_grid: bool = False,
) -> Lines:
    references = context.references
    if references is None or node.extra is None or not node.extra.has_references:
        return _find_lines(context, node, width, start, (), lead=lead, is_on_grid=is_on_grid)
    texts = references.texts_of(node.inlines)
    lines = _find_lines(context, node, width, start, texts, lead=lead, is_on_grid=is_on_grid)
    references.record(ShownLines(node, lines, lead))
    return lines


_LINES: Final[Kind[tuple[Paragraph, float, InlinePosition | None], Lines]] = Kind()


def _find_lines(
    context: LayoutContext,
    node: Paragraph,
    width: float,
    start: InlinePosition | None,
    texts: tuple[str, ...],
    *,
    lead: float,
    is_on_grid: bool,
) -> Lines:
    key = node, width, start
    known = context.memo.find(_LINES, key)
    if known is not None and known.texts == texts:
        return known
    if start is None:
        _report_missing_glyphs(context, node)
        _warn_of_missing_hyphenation(context, node)
        _warn_of_missing_features(context, node)
        _warn_of_missing_letter(context, node)
    base, style = node.style.text, node.style.paragraph
    grid = style.line_grid if is_on_grid else None
    if grid is not None:
        style = fit_line_height(style, grid, base.size)

    def break_() -> Lines:
        return break_lines(
            context.inside(node.source),
            _resolved(context, node),
            base=base,
            style=style,
            width=width,
            start=start,
            marker_width=lead,
        )

    if start is None and node.extra is None and grid is None:
        lines = remember_lines(context, node.inlines, node.style, width, break_)
    else:
        lines = break_()
    if grid is not None:
        lines.lines = place_on_grid(lines.lines, grid.step)
    lines.texts = texts
    context.memo.store(_LINES, key, lines)
    return lines


def _resolved(context: LayoutContext, node: Paragraph) -> Sequence[Inline]:
    """Return the inline content of a paragraph with its references resolved.

    Optional images that cannot be drawn are their alternative text.
    """
    inlines: Sequence[Inline] = node.inlines
    if node.extra is not None and node.extra.has_references and context.references is not None:
        inlines = context.references.resolve(inlines)
    if any(isinstance(each, InlineBlock) for each in inlines):
        return [_with_fallback(context, each) for each in inlines]
    return inlines


def _with_fallback(context: LayoutContext, inline: Inline) -> Inline:
    if not (isinstance(inline, InlineBlock) and isinstance(inline.block, Image)):
        return inline
    image = inline.block
    if find_fallback(context, image) is None:
        return inline
    return TextRun(image.alt, image.style.text, inline.link)


def _report_missing_glyphs(context: LayoutContext, node: Paragraph) -> None:
    for inline in _resolved(context, node):
        if isinstance(inline, TextRun) and not inline.text.isascii():
            context.report_missing_glyphs(inline.text, node.source)


def _warn_of_missing_hyphenation(context: LayoutContext, node: Paragraph) -> None:
    if node.style.paragraph.hyphens != "auto":
        return
    langs = {inline.style.lang for inline in node.inlines if isinstance(inline, TextRun)}
    for lang in sorted(langs):
        if not can_hyphenate(lang):
            message = (
                f'There are no hyphenation patterns for the language "{lang}"; '
                "only soft hyphens break its words"
            )
            context.warn_once("no-hyphenation", message, node.source)


def _warn_of_missing_features(context: LayoutContext, node: Paragraph) -> None:
    for inline in _resolved(context, node):
        if isinstance(inline, TextRun) and inline.style.features:
            context.warn_of_missing_features(inline.style, node.source)


def _warn_of_missing_letter(context: LayoutContext, node: Paragraph) -> None:
    inlines = _resolved(context, node)
    if node.style.paragraph.initial_letter and inlines and not has_initial_letter(inlines):
        context.findings.warn(
            "no-initial-letter",
            "The paragraph does not begin with a letter or figure that can stand alone; "
            "initial-letter has no effect",
            node.source.location,
        )


def _describe_broken(
    context: LayoutContext, node: Paragraph, broken: BrokenFigure, room: float
) -> LayoutProblem:
    """Return the warning about a number that is broken inside."""
    return LayoutProblem(
        code="number-broken",
        message=f"A number is broken: {describe_element(node.source, context.path)} allows "
        f"{format_mm(room)} of width, it needs {format_mm(broken.width)}",
        advice="Make room for it, or the text smaller.",
        chain=context.chain(node.source),
        excerpt=shorten_value(broken.text),
        severity=Severity.WARNING,
    )


def _too_wide(context: LayoutContext, node: Paragraph, lines: Lines, room: float) -> LayoutProblem:
    is_code = node.role is Role.CODE
    return context.too_wide(
        node.source,
        needed=lines.widest,
        available=room,
        excerpt=shorten_value(lines.widest_text),
        advice='Break the lines of the text, make the text smaller, or let it wrap: white-space="pre-wrap".'
        if is_code
        else 'Make room for it, or let it wrap: white-space="normal", overflow-wrap="anywhere".',
        is_own_limit=_is_limited_by_own_width(context, node),
    )


def _is_limited_by_own_width(context: LayoutContext, node: Paragraph) -> bool:
    """Return whether text is too wide for its own element rather than for its container.

    Loose text and cell text name the element around them as their own.
    """
    box = node.style.box
    if box.width.kind is not LengthKind.AUTO or box.max_width is not None:
        return True
    is_loose = bool(context.path) and context.path[-1].location == node.source.location
    return is_loose or node.source.location.tag_name in ("td", "th")
