"""Building of lines: the fragments between two breakpoints, aligned, justified and in visual order."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from workers.engine.bidi import reorder
from workers.engine.layout.context import EPSILON
from workers.engine.layout.lines.fragments import (
    AtomicInline,
    BoxPosition,
    GlyphStyle,
    InlineFragment,
    Line,
    Strut,
)
from workers.engine.layout.lines.horizontal_lists import (
    DISCRETIONARY,
    NO_BREAK_SPACE,
    SOFT_HYPHEN,
    SPACE,
    HorizontalList,
)
from workers.engine.layout.lines.optimal import SHRINK
from workers.engine.tree.styles.computed import Align, ParagraphStyle


class LineBuilder:
    """Builds the lines of one horizontal list, in a paragraph of `width` points."""

    def __init__(
        self, hlist: HorizontalList, style: ParagraphStyle, metrics: Strut, width: float
    ) -> None:
        self._hlist = hlist
        self._style = style
        self._metrics = metrics
        self._width = width
        # What holds for all lines of nearly every list is found once.
        self._ordinary = metrics.of_ordinary_lines(hlist.distinct_styles())
        self._has_ideographs = has_ideographs(hlist)

    def build(self, start: BoxPosition, end: BoxPosition, indent: float, y: float) -> Line:
        """Return the line between two positions, `indent` points at its start left free; `y` is its top."""
        hlist, style = self._hlist, self._style
        fragments = _build_fragments(hlist, start, end)
        own_width = fragments[-1].x + fragments[-1].width  # still in logical order
        height, baseline = self._ordinary or self._metrics.of_line(fragments)
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
        width, ended = hlist.rights[stop] - x, offsets[stop] + len(texts[stop])
        part = _strip_soft_hyphens(text[at:ended])
        _append(fragments, InlineFragment(x - start.x, width, part, styles[box]))
        if (space := hlist.space_style_after(stop)) is not None:
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
