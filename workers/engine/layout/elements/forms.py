"""Form fields: their boxes on the page, and the areas and appearances of interactive ones.

The border and background of a field belong to the page: viewers redraw the appearance of a field
that is filled, and leave them as they are. The text of an appearance is placed where viewers set typed
text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from workers.engine.diagnostics import Severity
from workers.engine.layout import display
from workers.engine.layout.blocks import boxes
from workers.engine.layout.context import (
    EPSILON,
    Fragment,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    Region,
    Resume,
    WholeFragment,
    shorten_value,
)
from workers.engine.layout.display import GlyphRun, ShapedRun
from workers.engine.layout.elements.figures import place_figure
from workers.engine.layout.lines.drawing import phrase_items, set_phrase, text_measurer
from workers.engine.layout.lines.fragments import line_metrics
from workers.engine.tree.memo import Kind
from workers.engine.tree.node_values import FieldKind
from workers.engine.tree.nodes import FormField, Paragraph, Role, Source, TextRun
from workers.engine.tree.styles.cascade import INITIAL_STYLE
from workers.engine.tree.styles.computed import Align, BoxStyle, Style, WhiteSpace
from workers.engine.units import NO_BORDER, LengthKind, Sides, mm

VIEWER_PADDING: Final = 2.0  # points that viewers leave beside typed text
BUTTON_SIDE: Final = 1.05  # em
_FILLING: Final = frozenset({FieldKind.TEXT, FieldKind.MULTILINE, FieldKind.CHOICE})
_NATURAL: Final = {  # min-content and max-content widths
    FieldKind.TEXT: (mm(15), mm(45)),
    FieldKind.MULTILINE: (mm(25), mm(70)),
    FieldKind.CHOICE: (mm(15), mm(45)),
    FieldKind.SIGNATURE: (mm(30), mm(60)),
}
_CELL: Final = 1.5  # em; the width of one cell
_LINES: Final = 3  # of a field of several lines
_SIGNATURE_HEIGHT: Final = mm(18)
_DIVIDER: Final = 0.45  # height of the line between two cells, of the height of the field
_TICK: Final = ((0.22, 0.53), (0.42, 0.74), (0.79, 0.27))  # of the side of a checkbox
_TICK_WIDTH: Final = 0.13
_DOT: Final = 0.27  # radius of the mark of a radio button, of its side
_NO_SIDES: Final = Sides(0.0, 0.0, 0.0, 0.0)
_NO_BORDERS: Final = Sides(NO_BORDER, NO_BORDER, NO_BORDER, NO_BORDER)


@dataclass(slots=True)
class FieldFragment(WholeFragment):
    """A form field with its border box in points."""

    context: LayoutContext
    node: FormField
    used_box: boxes.UsedBox
    height: float
    problem: LayoutProblem | None
    chain: tuple[Source, ...]
    resume: Resume = None
    forced: str = ""

    @property
    def first_baseline(self) -> float | None:
        """The distance from the top to the baseline of the text, in points; None without text."""
        node, face = self.node, self.context.fonts.find(self.node.style.text)
        size = node.style.text.size
        if node.kind is FieldKind.SIGNATURE:
            return None
        if node.kind.is_button:
            return (self.height + face.cap_height * size) / 2
        if node.kind is FieldKind.MULTILINE:
            first_line = line_metrics(node.style.text, node.style.paragraph, self.context.fonts)[1]
            return self.used_box.insets.top + first_line
        return _centred_baseline(self.context, node, self.height)

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the box, and the value or the area of the field."""
        if canvas.is_dry_run:
            return
        node, box = self.node, self.used_box.box
        width = self.used_box.width
        canvas.report(self.problem)
        owner = None
        if not node.is_interactive:
            owner = canvas.add_field(node, (x, y, width, self.height))
        if node.kind is FieldKind.RADIO:
            box = replace(box, radius=max(width, self.height))
        boxes.draw_box(canvas.items, box, (x, y, width, self.height), owner)
        self._draw_dividers(canvas, x, y, owner)
        self.context.report_missing_glyphs(node.shown_text.replace("\n", " "), node.source)
        if not node.is_interactive:
            canvas.items += self._appearance(x, y, owner, is_checked=node.is_checked)
            return
        if canvas.is_rotated:
            canvas.report(_describe_rotation(node, self.chain))
        left, top, right, bottom = self._area
        states = (True, False) if node.kind.is_button else (False,)
        canvas.items.append(
            display.Widget(
                x + left,
                y + top,
                right - left,
                bottom - top,
                node,
                self.context.fonts.find(node.style.text),
                tuple(
                    tuple(self._appearance(-left, -top, None, is_checked=state)) for state in states
                ),
                canvas.add_field(node, None),
            )
        )

    @property
    def _area(self) -> tuple[float, float, float, float]:
        """The area of the field in its box: left, top, right, bottom."""
        border, insets, width = self.used_box.box.border, self.used_box.insets, self.used_box.width
        left, right = border.left.width, width - border.right.width
        top, bottom = border.top.width, self.height - border.bottom.width
        if self.node.kind.is_button:
            return 0.0, 0.0, width, self.height
        if self.node.kind in _FILLING and not self.node.cells:
            left = max(left, insets.left - VIEWER_PADDING)
            right = min(right, width - insets.right + VIEWER_PADDING)
        return left, top, max(right, left + 1.0), max(bottom, top + 1.0)

    def _draw_dividers(self, canvas: PageCanvas, x: float, y: float, owner: display.Owner) -> None:
        line = self.used_box.box.border.bottom
        if not self.node.cells or not line.width:
            return
        left, _, right, bottom = self._area
        step = (right - left) / self.node.cells
        top = bottom - self.height * _DIVIDER
        for at in range(1, self.node.cells):
            across = x + left + at * step
            canvas.items.append(
                display.Stroke(across, y + top, across, y + bottom, line.width, line.color, owner)
            )

    def _appearance(
        self, x: float, y: float, owner: display.Owner, *, is_checked: bool
    ) -> Sequence[display.Item]:
        """Return the items of the value, in a border box whose upper left corner is at a point."""
        node = self.node
        if node.kind.is_button:
            return [self._mark(x, y, owner)] if is_checked else []
        if not node.shown_text:
            return []
        if node.kind is FieldKind.MULTILINE:
            return self._lines(x, y, owner)
        baseline = y + _centred_baseline(self.context, node, self.height)
        return self._cells(x, baseline, owner) if node.cells else self._line(x, baseline, owner)

    def _mark(self, x: float, y: float, owner: display.Owner) -> display.Item:
        width, height = self.used_box.width, self.height
        side = min(width, height)
        left, top = x + (width - side) / 2, y + (height - side) / 2
        color = self.node.style.text.color
        if self.node.kind is FieldKind.RADIO:
            radius = side * _DOT
            at = left + side / 2 - radius, top + side / 2 - radius
            return display.Fill(*at, 2 * radius, 2 * radius, color, owner, radius)
        tick = tuple((left + across * side, top + down * side) for across, down in _TICK)
        return display.Path((tick,), color, owner, side * _TICK_WIDTH)

    def _line(self, x: float, baseline: float, owner: display.Owner) -> list[display.Item]:
        node = self.node
        phrase = set_phrase(
            self.context.fonts, node.style.text, node.shown_text, is_rtl=node.style.paragraph.is_rtl
        )
        wide = sum(part.width for part in phrase)
        start, room = x + self.used_box.insets.left, self.used_box.content_width
        match node.style.paragraph.align:
            case Align.RIGHT | Align.DECIMAL:
                start += room - wide
            case Align.CENTER:
                start += (room - wide) / 2
        return phrase_items(phrase, start, baseline, owner)

    def _cells(self, x: float, baseline: float, owner: display.Owner) -> list[display.Item]:
        left, _, right, _ = self._area
        step = (right - left) / self.node.cells
        items: list[display.Item] = []
        for at, char in enumerate(self.node.value[: self.node.cells]):
            phrase = set_phrase(self.context.fonts, self.node.style.text, char)
            wide = sum(part.width for part in phrase)
            start = x + left + at * step + (step - wide) / 2
            items += phrase_items(phrase, start, baseline, owner)
        return items

    def _lines(self, x: float, y: float, owner: display.Owner) -> list[display.Item]:
        insets = self.used_box.insets
        fragment = _lay_out_lines(self.context, self.node, self.used_box.content_width)
        canvas = PageCanvas(display.LaidOutPage(inf, inf))
        canvas.is_artifact = True
        fragment.draw(canvas, x + insets.left, y + insets.top)
        texts = [each for each in canvas.items if isinstance(each, GlyphRun | ShapedRun)]
        return [text._replace(owner=owner) for text in texts]


def lay_out_field(
    context: LayoutContext, node: FormField, region: Region, _resume: Resume
) -> Fragment | None:
    """Lay out a form field: of text as wide as its region, others at their own width."""
    used_box = boxes.resolve_box(context, node.style.box, region)
    if node.style.box.width.kind is LengthKind.AUTO and not region.has_fixed_width:
        used_box = _with_natural_width(context, node, used_box, region)
    height = used_box.height
    if height is None:
        height = _natural_height(node, used_box)
        height = height if used_box.max_height is None else min(height, used_box.max_height)
    problem = _find_problem(context, node, used_box, height)
    chain = context.chain(node.source)
    fragment = FieldFragment(context, node, used_box, height, problem, chain)
    bare = replace(used_box, box=_bare_box(context, used_box.box), insets=_NO_SIDES)
    return place_figure(context, node, bare, region, fragment)


_BARE_BOXES: Final[Kind[int, BoxStyle]] = Kind()
_VALUES: Final[Kind[tuple[FormField, float], Fragment]] = Kind()


def _bare_box(context: LayoutContext, box: BoxStyle) -> BoxStyle:
    """Return a box without what the field draws itself."""
    return context.memo.template.remember(
        _BARE_BOXES,
        id(box),
        lambda: replace(box, padding=_NO_SIDES, border=_NO_BORDERS, background=None, radius=0.0),
        holds=box,
    )


def _describe_rotation(node: FormField, chain: tuple[Source, ...]) -> LayoutProblem:
    return LayoutProblem(
        "field-rotated",
        f'The form field "{node.name}" is in a rotated box, where viewers cannot fill it',
        'Take `rotate` off the elements around it, or give it interactive="false".',
        chain,
    )


def measure_field(context: LayoutContext, node: FormField) -> tuple[float, float]:
    """Return the min-content and max-content outer widths of a form field, in points."""
    least, most = _natural_widths(context, node)
    if node.kind.is_button or node.cells:
        insets = boxes.side_edges(node.style.box)
        least, most = max(least - insets, 0.0), max(most - insets, 0.0)
    return boxes.outer_widths(node.style.box, least, most)


def _natural_widths(context: LayoutContext, node: FormField) -> tuple[float, float]:
    """Return the widths of the border box of buttons and combs, and of the content of others."""
    size = node.style.text.size
    if node.kind.is_button:
        return size * BUTTON_SIDE, size * BUTTON_SIDE
    if node.cells:
        return node.cells * size * _CELL, node.cells * size * _CELL
    least, most = _NATURAL[node.kind]
    if node.kind is FieldKind.CHOICE:
        texts = [option.text for option in node.options[:100]]
        measure = text_measurer(context.fonts, node.style.text)
        most = max(most, *map(measure, texts))
    return least, most


def _with_natural_width(
    context: LayoutContext, node: FormField, used_box: boxes.UsedBox, region: Region
) -> boxes.UsedBox:
    if node.kind in _FILLING and not node.cells:
        return used_box
    width = _natural_widths(context, node)[1]
    if node.kind is FieldKind.SIGNATURE:
        width += used_box.insets.left + used_box.insets.right
    limit = node.style.box.max_width
    most = None if limit is None else limit.resolve(region.width)
    width = min(width, used_box.width if node.kind is FieldKind.SIGNATURE else width)
    return boxes.with_own_width(used_box, width if most is None else min(width, most), region)


def _natural_height(node: FormField, used_box: boxes.UsedBox) -> float:
    insets = used_box.insets.top + used_box.insets.bottom
    if node.kind.is_button:
        return node.style.text.size * BUTTON_SIDE
    if node.kind is FieldKind.SIGNATURE:
        return _SIGNATURE_HEIGHT
    lines = _LINES if node.kind is FieldKind.MULTILINE else 1
    return lines * node.style.paragraph.line_height + insets


def _centred_baseline(context: LayoutContext, node: FormField, height: float) -> float:
    """Return the baseline of one line in the middle, where viewers set it too."""
    face, size = context.fonts.find(node.style.text), node.style.text.size
    border = node.style.box.border
    middle = (height + border.top.width - border.bottom.width) / 2
    return middle + (face.ascent - face.descent) * size / 2


def _find_problem(
    context: LayoutContext, node: FormField, used_box: boxes.UsedBox, height: float
) -> LayoutProblem | None:
    """Return the problem of a value larger than its field, which viewers scroll and printers cut."""
    if node.kind.is_button or not node.shown_text:
        return None
    if node.kind is FieldKind.MULTILINE:
        insets = used_box.insets.top + used_box.insets.bottom
        fits = (
            _lay_out_lines(context, node, used_box.content_width).height + insets
            <= height + EPSILON
        )
        direction = "higher"
    else:
        measure = text_measurer(context.fonts, node.style.text)
        room = used_box.width / node.cells if node.cells else used_box.content_width
        texts = node.value if node.cells else (node.shown_text,)
        fits = max(map(measure, texts)) <= room + EPSILON
        direction = "wider"
    if fits:
        return None
    return LayoutProblem(
        "field-overflow",
        f'The value of the form field "{node.name}" is {direction} than the field and would be cut off in print',
        "Make the field larger, or the text smaller.",
        context.chain(node.source),
        shorten_value(node.shown_text),
        Severity.WARNING if node.is_interactive else Severity.ERROR,
    )


def _lay_out_lines(context: LayoutContext, node: FormField, width: float) -> Fragment:
    def lay_out() -> Fragment:
        style = _plain_style(node.style)
        inlines = (TextRun(node.value, style.text),)  # with its line ends
        paragraph = Paragraph(node.source, Role.P, style, inlines)
        made = context.lay_out(paragraph, Region(width))
        assert made is not None
        return made

    return context.memo.remember(_VALUES, (node, width), lay_out)


def _plain_style(style: Style) -> Style:
    """Return the style of the text in a field: without its box."""
    paragraph = replace(
        style.paragraph, indent=0.0, white_space=WhiteSpace.PRE_WRAP, breaks_anywhere=True
    )
    text = replace(style.text, decoration="none", background=None, rise=0.0)
    return replace(style, text=text, box=INITIAL_STYLE.box, paragraph=paragraph, numbering=None)
