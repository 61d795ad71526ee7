"""Paragraphs with the number before and the page number after them, and horizontal rules."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from math import ceil, floor, inf
from typing import Final, NamedTuple

from workers.engine.diagnostics import Severity
from workers.engine.layout.blocks.boxes import draw_border
from workers.engine.layout.context import (
    EPSILON,
    DrawnFragment,
    Fragment,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    Region,
    Resume,
    describe_element,
    format_mm,
    plain_text,
    shorten_value,
)
from workers.engine.layout.display import LinkArea, Stroke
from workers.engine.layout.lines.breaking import break_lines, measure_inlines, remember_lines
from workers.engine.layout.lines.drawing import add_ellipsis, draw_lines, make_glyphs, set_phrase
from workers.engine.layout.lines.fragments import (
    BrokenFigure,
    GlyphStyle,
    InlinePosition,
    Line,
    Lines,
    Strut,
    find_shift,
    fit_line_height,
    make_glyph_style,
    place_on_grid,
)
from workers.engine.layout.lines.horizontal_lists import DISCRETIONARY
from workers.engine.layout.lines.hyphenation import can_hyphenate
from workers.engine.layout.lines.initial_letters import has_initial_letter
from workers.engine.layout.pictures import find_fallback
from workers.engine.layout.references import PageReferences
from workers.engine.tree.memo import Kind, Lifetime
from workers.engine.tree.nodes import (
    Image,
    Inline,
    InlineBlock,
    Label,
    Leader,
    Paragraph,
    ParagraphExtras,
    Role,
    Rule,
    Source,
    TextRun,
)
from workers.engine.tree.styles.computed import ParagraphStyle, Style, TextStyle
from workers.engine.units import ZERO, LengthKind

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
        draw_lines(canvas, (label,), left, y + first.baseline - label.baseline, node)


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
    owner = canvas.owner_of(node)
    canvas.items.append(make_glyphs(glyph_style, text, left, baseline, owner))


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
        needed = glyph_style.measure("0" * context.references.digits) + PAGE_GAP * style.size
        room = max(width - label_layout.hanging_indent, 0.0)
        label_layout.page_number_width = min(needed, room)
    return label_layout


def _add_label(context: LayoutContext, label_layout: LabelLayout, label: Label) -> None:
    node, size = label_layout.paragraph, label_layout.paragraph.style.text.size
    run = TextRun(f"{label.text} ", node.style.text)
    label_layout.label = line = set_number(context, run, node.style, node.source)
    advance = line.width + NUMBER_GAP * size
    if label.width is not None:
        label_layout.hanging_indent = min(
            label.width, max(label_layout.width - _MIN_WIDTH * size, ZERO.value)
        )
    label_layout.lead = max(advance - label_layout.hanging_indent, 0.0)


def set_number(context: LayoutContext, run: TextRun, style: Style, source: Source) -> Line:
    """Return a number or marker beside text of a style as a line."""
    context.report_missing_glyphs(run.text, source)
    fonts, base = context.fonts, style.text
    parts = set_phrase(fonts, run.style, run.text, is_rtl=style.paragraph.is_rtl, link=run.link)
    height, baseline = Strut.of(base, style.paragraph, fonts.find(base)).of_line(parts)
    return Line(0.0, 0.0, height, baseline, sum(part.width for part in parts), parts)


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


def lay_out_rule(
    _context: LayoutContext, node: Rule, region: Region, _resume: Resume
) -> Fragment | None:
    """Lay out a rule across its container."""

    def draw(canvas: PageCanvas, x: float, y: float) -> None:
        middle = y + node.border.width / 2
        # A rule is an artifact (ISO 32000-2, 14.8.2.2).
        draw_border(canvas.items, node.border, (x, middle), (x + region.width, middle), None)

    return DrawnFragment(draw, node.border.width)


def measure_paragraph(context: LayoutContext, node: Paragraph) -> tuple[float, float]:
    """Return the widths of the widest word and of the text on one line, in points."""
    edges = lead = 0.0
    if node.extra is not None:
        label_layout = find_label_layout(context, node, inf)
        edges = label_layout.hanging_indent + label_layout.page_number_width
        lead = label_layout.lead
        if node.extra.has_references and context.references is not None:
            context.references.affects_widths = True
    min_content, max_content = measure_inlines(
        context, _resolved(context, node), node.style.text, node.style.paragraph
    )
    return min_content + edges, max_content + edges + lead


def lay_out_paragraph(
    context: LayoutContext, node: Paragraph, region: Region, resume: Resume
) -> LinesFragment | None:
    """Lay out as many lines as fit, with regard to orphans and widows."""
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
    fragment = LinesFragment(
        *(node, lines, first, last, height, going_on),
        label_layout=label_layout,
        references=context.references,
        is_start=resume is None,
        shift=shift,
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
        _check_text(context, node, _resolved(context, node))
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


def _check_text(context: LayoutContext, node: Paragraph, inlines: Sequence[Inline]) -> None:
    """Report what fonts and languages lack for a text."""
    style, langs = node.style.paragraph, set()
    for inline in inlines:
        if isinstance(inline, TextRun):
            if not inline.text.isascii():
                context.report_missing_glyphs(inline.text, node.source)
            if inline.style.features:
                context.warn_of_missing_features(inline.style, node.source)
            langs.add(inline.style.lang)
    for lang in sorted(langs) if style.hyphens == "auto" else ():
        if not can_hyphenate(lang):
            message = (
                f'There are no hyphenation patterns for the language "{lang}"; '
                "only soft hyphens break its words"
            )
            context.warn_once("no-hyphenation", message, node.source)
    if style.initial_letter and inlines and not has_initial_letter(inlines):
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
