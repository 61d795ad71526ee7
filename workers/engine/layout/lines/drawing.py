"""Building and drawing of lines: the fragments between two breakpoints, aligned, justified and in visual
order; text with backgrounds, decorations and links.

A phrase is short text on one line, in any faces and directions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from workers.engine.bidi import ControlRemover, reorder, resolve_levels
from workers.engine.characters import ELLIPSIS, cut_to_width, has_right_to_left
from workers.engine.fonts import Face
from workers.engine.layout.context import EPSILON, Fonts, PageCanvas
from workers.engine.layout.display import Fill, GlyphRun, Item, LinkArea, Owner, ShapedRun, Stroke
from workers.engine.layout.lines.fragments import (
    AtomicInline,
    BoxPosition,
    GlyphStyle,
    InlineFragment,
    Line,
    Strut,
    find_encoding,
    find_ligatures,
    has_atomic_inline,
    make_glyph_style,
    place_clusters,
)
from workers.engine.layout.lines.horizontal_lists import (
    DISCRETIONARY,
    NO_BREAK_SPACE,
    SOFT_HYPHEN,
    SPACE,
    HorizontalList,
)
from workers.engine.layout.lines.optimal import SHRINK
from workers.engine.tree.nodes import SourceNode
from workers.engine.tree.styles.computed import Align, ParagraphStyle, TextStyle


class LineBuilder:
    """Builds the lines of one horizontal list, in a paragraph of `width` points."""

    def __init__(
        self, hlist: HorizontalList, style: ParagraphStyle, metrics: Strut, width: float
    ) -> None:
        self._hlist = hlist
        self._style = style
        self._metrics = metrics
        self._width = width
        self._has_ideographs = has_ideographs(hlist)

    def build(self, start: BoxPosition, end: BoxPosition, indent: float, y: float) -> Line:
        """Return the line between two positions, `indent` points at its start left free; `y` is its top."""
        hlist, style = self._hlist, self._style
        fragments = _build_fragments(hlist, start, end)
        own_width = fragments[-1].x + fragments[-1].width  # still in logical order
        height, baseline = self._metrics.of_line(fragments)
        available = self._width - indent
        before = after = 0.0  # what hangs at the start and at the end
        if (hanging := hlist.hanging) is not None:
            before = hanging.at_start(start)
            hyphen = _visible_hyphen_width(hlist, end)
            after = hanging.at_end(end, hyphen, own_width - before - available)
            own_width -= before + after
        slack = available - own_width
        x = 0.0 if style.is_rtl else indent  # the indent is at the start edge
        word_spacing = 0.0
        is_last = end.box == len(hlist.texts) - 1
        match style.align:
            case Align.RIGHT | Align.DECIMAL:
                x += slack
            case Align.CENTER:
                x += slack / 2
            case Align.JUSTIFY:
                counts = self._count_opportunities(fragments)
                opportunities = sum(counts) - (self._ends_in_opportunity(fragments) and bool(after))
                is_spread = slack > 0 and end.offset < 0 and not is_last
                if opportunities > 0 and (
                    is_spread or (slack < -EPSILON and _can_shrink(hlist, start, end, -slack))
                ):
                    word_spacing = slack / opportunities
                    fragments = _justify(fragments, counts, word_spacing)
                    own_width = available
                elif style.is_rtl:
                    x += slack
            case _:
                pass
        if hlist.has_levels:
            fragments = reorder_fragments(fragments)
        if before or after:
            shift = after if style.is_rtl else before
            fragments = tuple(part._replace(x=part.x - shift) for part in fragments)
        # A box that is cut ends on a later line, which has its anchors: a note is called once.
        last = end.box - (end.offset >= 0)
        anchors = hlist.anchors_between(start.box, last) if hlist.anchors else ()
        boundary = 0 if is_last or end.offset >= 0 else hlist.boundaries[end.box]
        return Line(x, y, height, baseline, own_width, fragments, word_spacing, anchors, boundary)

    def _count_opportunities(self, fragments: Sequence[InlineFragment]) -> list[int]:
        """Return the number of justification opportunities of each fragment (CSS Text 3 §6.4).

        They are its spaces; in ideographic text, every character but the last one of the line.
        """
        if not self._has_ideographs:
            return [fragment.text.count(" ") for fragment in fragments]
        counts = [
            len(fragment.text)
            if _is_spaced_between_characters(fragment)
            else fragment.text.count(" ")
            for fragment in fragments
        ]
        counts[-1] -= self._ends_in_opportunity(fragments)
        return counts

    def _ends_in_opportunity(self, fragments: Sequence[InlineFragment]) -> bool:
        """Return whether there would be an opportunity after the last character."""
        return self._has_ideographs and _is_spaced_between_characters(fragments[-1])


def has_ideographs(hlist: HorizontalList) -> bool:
    """Return whether text of a list may be broken and expanded between all its characters."""
    return any(
        isinstance(glyph_style, GlyphStyle) and glyph_style.face.is_ideographic
        for glyph_style in hlist.distinct_styles()
    )


def hyphen_width(hlist: HorizontalList, box: int, count: int) -> float:
    """Return the width in points of the hyphen that is visible where a line ends with a box."""
    if hlist.boundaries[box] != DISCRETIONARY or box == count - 1:
        return 0.0
    glyph_style, text = hlist.styles[box], hlist.texts[box].removesuffix(SOFT_HYPHEN)
    if isinstance(glyph_style, AtomicInline):
        return 0.0
    return glyph_style.measure("-") + (glyph_style.kern(text, "-") if text else 0.0)


def _can_shrink(hlist: HorizontalList, start: BoxPosition, end: BoxPosition, excess: float) -> bool:
    """Return whether the spaces of a line shrink by `excess` points, within the limit of total fit."""
    spaces = sum(
        hlist.lefts[box + 1] - hlist.rights[box]
        for box in range(start.box, end.box)
        if hlist.boundaries[box] in (SPACE, NO_BREAK_SPACE)
    )
    return excess <= spaces * SHRINK + 2 * EPSILON


def reorder_fragments(fragments: tuple[InlineFragment, ...]) -> tuple[InlineFragment, ...]:
    """Set the `x` of fragments by their visual order (UAX #9 L2); the tuple stays in logical order."""
    levels: list[int] = []
    numbers: list[int | None] = []  # of the fragments, None for controls between them
    for number, fragment in enumerate(fragments):
        if (separator := fragment.glyph_style.separator) is not None:
            levels.append(separator)
            numbers.append(None)
        levels.append(fragment.glyph_style.level)
        numbers.append(number)
    x = 0.0
    arranged = list(fragments)
    for at in reorder(levels):
        if (seen := numbers[at]) is not None:
            arranged[seen] = fragments[seen]._replace(x=x)
            x += fragments[seen].width
    return tuple(arranged)


def _build_fragments(
    hlist: HorizontalList, start: BoxPosition, end: BoxPosition
) -> tuple[InlineFragment, ...]:
    """Return a fragment for each run of a line; a space has the style of one of its neighbours."""
    styles, texts, run_starts = hlist.styles, hlist.texts, hlist.run_starts
    text, offsets = hlist.joined()
    hyphen = _visible_hyphen_width(hlist, end)
    # A split before the first character of a box ends the line with the box before it.
    last = end.box - 1 if end.offset == 0 else end.box
    at = offsets[start.box] + start.offset
    text_end = offsets[end.box] + (len(texts[end.box]) if end.offset < 0 else end.offset)
    run = bisect_right(run_starts, start.box)
    box, x = start.box, start.x
    fragments: list[InlineFragment] = []
    while run < len(run_starts) and run_starts[run] <= last:
        following = run_starts[run]
        stop = following - 1
        ended = offsets[stop] + len(texts[stop])
        part = _strip_soft_hyphens(text[at:ended])
        space = hlist.space_style_after(stop)
        # A gap belongs to the text before it: widths are added up in bidirectional lines.
        width = (hlist.lefts[following] if space is None else hlist.rights[stop]) - x
        _append(fragments, InlineFragment(x - start.x, width, part, styles[box]))
        if space is not None:
            left, gap = hlist.rights[stop], hlist.lefts[following] - hlist.rights[stop]
            spaces = text[ended : offsets[following]]
            _append(fragments, InlineFragment(left - start.x, gap, spaces, space))
        box, x, at = following, hlist.lefts[following], offsets[following]
        run += 1
    part = _strip_soft_hyphens(text[at:text_end])
    if hyphen:
        part += "-"
    ending = InlineFragment(x - start.x, end.x - x + hyphen, part, styles[box])
    if not fragments:
        return (ending,)
    _append(fragments, ending)
    return tuple(fragments)


def _append(fragments: list[InlineFragment], fragment: InlineFragment) -> None:
    """Add a fragment, to the one before it if both have one glyph style."""
    before = fragments[-1] if fragments else None
    if (
        before is not None
        and before.glyph_style is fragment.glyph_style
        and not isinstance(fragment.glyph_style, AtomicInline)
    ):
        x, width, text, glyph_style = before
        fragments[-1] = InlineFragment(x, width + fragment.width, text + fragment.text, glyph_style)
    else:
        fragments.append(fragment)


def _strip_soft_hyphens(text: str) -> str:
    return text.replace(SOFT_HYPHEN, "") if SOFT_HYPHEN in text else text


def _visible_hyphen_width(hlist: HorizontalList, end: BoxPosition) -> float:
    if end.offset >= 0 or hlist.boundaries[end.box] != DISCRETIONARY:
        return 0.0
    return hyphen_width(hlist, end.box, len(hlist.texts))


def _justify(
    fragments: tuple[InlineFragment, ...], counts: Sequence[int], word_spacing: float
) -> tuple[InlineFragment, ...]:
    """Widen fragments by `word_spacing` points at each of their opportunities."""
    shift = 0.0
    justified = []
    for (x, width, text, glyph_style), count in zip(fragments, counts, strict=True):
        extra = count * word_spacing
        justified.append(InlineFragment(x + shift, width + extra, text, glyph_style))
        shift += extra
    return tuple(justified)


def _is_spaced_between_characters(fragment: InlineFragment) -> bool:
    glyph_style = fragment.glyph_style
    return (
        isinstance(glyph_style, GlyphStyle)
        and glyph_style.face.is_ideographic
        and not glyph_style.is_shaped
    )


if TYPE_CHECKING:
    from workers.engine.layout.structure import LogicalStructure


def draw_lines(
    canvas: PageCanvas, lines: Sequence[Line], x: float, y: float, node: SourceNode
) -> None:
    """Draw lines below each other; (x, y) is the top left corner of the first, in points."""
    owner = canvas.owner_of(node)
    top = lines[0].y if lines else 0.0
    for line in lines:
        for name in line.anchors:
            canvas.add_anchor(name, x + line.x, y + line.y - top)
        if canvas.is_dry_run and not has_atomic_inline(line):
            continue
        baseline = y + line.y - top + line.baseline
        if line.initial:
            _draw_line(canvas, Line(0.0, 0.0, 0.0, 0.0, 0.0, line.initial), x, baseline, owner)
        _draw_line(canvas, line, x + line.x, baseline, owner)


def make_glyphs(
    glyph_style: GlyphStyle,
    text: str,
    x: float,
    baseline: float,
    owner: Owner,
    width: float | None = None,
    word_spacing: float = 0.0,
) -> GlyphRun | ShapedRun:
    """Return text of one glyph style as a display item; `x` and `baseline` in points.

    `width` is that of a justified text, whose spaces are wider by `word_spacing`.
    """
    style, face, size = glyph_style.style, glyph_style.face, glyph_style.style.size
    y, color, spacing = baseline - style.rise, style.color, style.letter_spacing
    if width is None:
        width = glyph_style.measure(text)
    if glyph_style.is_shaped:
        clusters = tuple(place_clusters(glyph_style, text, word_spacing))
        return ShapedRun(x, y, face, size, color, clusters, text, width, owner)
    shown = glyph_style.encodable(text)
    codes = _encode(face, shown, size, word_spacing)
    if face.is_ideographic:
        spacing += word_spacing
    return GlyphRun(x, y, face, size, color, codes, text, width, owner, spacing, shown)


def _draw_line(canvas: PageCanvas, line: Line, x: float, baseline: float, owner: Owner) -> None:
    word_spacing = line.word_spacing
    tree, base = canvas.tree, owner
    # Words of tagged text are separated by spaces, also at line ends (ISO 32000-1, 14.8.2.5).
    is_spaced = tree is not None and line.boundary == SPACE
    last = line.fragments[-1] if is_spaced and line.fragments else None
    for fragment in line.fragments:
        part_x, width, text, glyph_style = fragment
        left = x + part_x
        if isinstance(glyph_style, AtomicInline):
            _draw_atomic_inline(canvas, glyph_style, left, baseline - glyph_style.ascent, base)
            continue
        style, link = glyph_style.style, glyph_style.link
        if tree is not None and isinstance(base, int):
            owner = tree.owner_of(base, link, style.lang)
        if style.background is not None:
            canvas.items.append(_make_background(glyph_style, left, baseline, width, owner))
        run = make_glyphs(glyph_style, text, left, baseline, owner, width, word_spacing)
        canvas.items.append(run)
        if fragment is last and isinstance(run, GlyphRun):
            codes = run.face.append_space(run.codes)
            spaced = run._replace(codes=codes, text=text + " ", encoded=run.encoded + " ")
            canvas.items[-1] = spaced
        elif fragment is last:
            end = left if glyph_style.level % 2 else left + width
            canvas.items.append(make_glyphs(glyph_style, " ", end, baseline, owner))
        if style.decoration != "none":
            canvas.items.append(_make_decoration(glyph_style, left, baseline, width, owner))
        if link is not None:
            _add_link(canvas, fragment, link, left, baseline, owner)
    if tree is not None and line.boundary == DISCRETIONARY and line.fragments:
        _mark_hyphen(canvas, tree, line, baseline)


def _draw_atomic_inline(
    canvas: PageCanvas, atomic: AtomicInline, x: float, y: float, owner: Owner
) -> None:
    """Draw a block in a line; one in a link is content of the link, as its text is."""
    fragment, link, tree = atomic.fragment, atomic.link, canvas.tree
    if link is None:
        fragment.draw(canvas, x, y)
        return
    holder = None
    if tree is None or not isinstance(owner, int):
        fragment.draw(canvas, x, y)
    else:
        holder = tree.owner_of(owner, link, "")
        tree.texts.setdefault(holder, []).append(atomic.alt)
        outer, tree.current = tree.current, holder
        fragment.draw(canvas, x, y)
        tree.current = outer
    canvas.add_link(LinkArea(x, y, atomic.width, fragment.height, link, holder))


def _encode(face: Face, text: str, size: float, word_spacing: float) -> bytes:
    """Return the operand of a text, which spreads its spaces where letter spacing does not."""
    if not word_spacing or face.is_ideographic:
        return face.encode(text)
    return face.encode_justified(text, word_spacing / size * 1000)


def _add_link(
    canvas: PageCanvas,
    fragment: InlineFragment,
    target: str,
    left: float,
    baseline: float,
    owner: Owner,
) -> None:
    """Add the link area of a fragment; its text describes the link in a tagged document."""
    glyph_style = fragment.glyph_style
    assert not isinstance(glyph_style, AtomicInline)
    face, size, holder = glyph_style.face, glyph_style.style.size, None
    if canvas.tree is not None and isinstance(owner, int):
        holder = canvas.tree.link_of(owner)
        canvas.tree.texts.setdefault(holder, []).append(fragment.text)
    top, height = baseline - face.ascent * size, (face.ascent + face.descent) * size
    canvas.add_link(LinkArea(left, top, fragment.width, height, target, holder))


def _mark_hyphen(canvas: PageCanvas, tree: LogicalStructure, line: Line, baseline: float) -> None:
    """Make a hyphen that exists only at the end of a line a soft one (ISO 32000-1, 14.8.2.2.3)."""
    glyph_style, last = line.fragments[-1].glyph_style, canvas.items[-1]
    if (
        isinstance(glyph_style, AtomicInline)
        or not isinstance(last, GlyphRun)
        or last.text[-1:] != "-"
    ):
        return
    text, width = last.text[:-1], glyph_style.measure("-")
    shown = glyph_style.encodable(text)
    codes = _encode(last.face, shown, last.size, line.word_spacing)
    canvas.items[-1] = last._replace(
        text=text, codes=codes, width=last.width - width, encoded=shown
    )
    assert isinstance(last.owner, int)
    owner = tree.add_actual_text(last.owner, SOFT_HYPHEN)
    canvas.items.append(make_glyphs(glyph_style, "-", last.x + last.width - width, baseline, owner))


def _make_background(
    glyph_style: GlyphStyle, x: float, baseline: float, width: float, owner: Owner
) -> Fill:
    style, face = glyph_style.style, glyph_style.face
    assert style.background is not None
    top = baseline - style.rise - face.ascent * style.size
    height = (face.ascent + face.descent) * style.size
    return Fill(x, top, width, height, style.background, owner)


def _make_decoration(
    glyph_style: GlyphStyle, x: float, baseline: float, width: float, owner: Owner
) -> Stroke:
    style, face = glyph_style.style, glyph_style.face
    is_underline = style.decoration == "underline"
    position = face.underline_position if is_underline else face.strike_position
    y = baseline - style.rise - position * style.size
    thickness = face.underline_thickness * style.size
    return Stroke(x, y, x + width, y, thickness, style.color, owner)


def text_measurer(fonts: Fonts, style: TextStyle) -> Callable[[str], float]:
    """Return the fastest function that measures any text of a style, in points."""
    face = fonts.find(style)
    measure, size, spacing = face.measure, style.size, style.letter_spacing
    shapes_all = find_encoding(style, face, 0, None)[0]

    def measure_any(text: str) -> float:
        if not shapes_all and face.draws_simply(text) and find_ligatures(style, face, text) is None:
            return measure(text) * size + spacing * len(text)
        return sum(
            glyph_style.measure(run)
            for glyph_style, run in _resolve_glyph_styles(fonts, style, text)
        )

    return measure_any


def set_phrase(
    fonts: Fonts, style: TextStyle, text: str, *, is_rtl: bool = False, link: str | None = None
) -> tuple[InlineFragment, ...]:
    """Return a text set on one line; the first fragment starts at x 0."""
    fragments = [
        InlineFragment(0.0, glyph_style.measure(run), run, glyph_style)
        for glyph_style, run in _resolve_glyph_styles(fonts, style, text, link, is_rtl=is_rtl)
    ]
    return reorder_fragments(tuple(fragments))


def phrase_items(
    fragments: tuple[InlineFragment, ...], x: float, baseline: float, owner: Owner = None
) -> list[Item]:
    """Return a phrase as display items; without an owner it is decoration."""
    return [
        make_glyphs(fragment.glyph_style, fragment.text, x + fragment.x, baseline, owner)
        for fragment in fragments
        if isinstance(fragment.glyph_style, GlyphStyle)
    ]


def _resolve_glyph_styles(
    fonts: Fonts, style: TextStyle, text: str, link: str | None = None, *, is_rtl: bool = False
) -> Iterator[tuple[GlyphStyle, str]]:
    runs = [(0, len(text), 0)]
    if is_rtl or has_right_to_left(text):
        runs = resolve_levels(text, is_rtl=is_rtl)
    controls = ControlRemover()
    for start, end, level in runs:
        for face, run in fonts.split(style, controls.remove(text[start:end], level)):
            separator = controls.take_separator()
            yield make_glyph_style(style, face, link, level, text=run, separator=separator), run


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
