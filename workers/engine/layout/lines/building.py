"""Building of lines: the fragments between two breakpoints, aligned, justified and in visual order."""

from __future__ import annotations

from collections.abc import Sequence

from workers.engine.layout.context import EPSILON
from workers.engine.layout.lines.bidi import reorder
from workers.engine.layout.lines.fragments import (
    AtomicInline,
    BoxPosition,
    GlyphStyle,
    InlineFragment,
    Line,
)
from workers.engine.layout.lines.heights import Strut
from workers.engine.layout.lines.horizontal_lists import (
    DISCRETIONARY,
    NO_BREAK_SPACE,
    SOFT_HYPHEN,
    SPACE,
    HorizontalList,
)
from workers.engine.layout.lines.optimal import SHRINK
from workers.engine.tree.styles.computed import Align, ParagraphStyle


def build_line(
    hlist: HorizontalList,
    style: ParagraphStyle,
    metrics: Strut,
    start: BoxPosition,
    end: BoxPosition,
    width: float,
    indent: float,
) -> Line:
    """Return the line between two positions in `width` points, `indent` of them at its start left free."""
    fragments = (
        _single_fragment(hlist, start, end)
        if hlist.has_one_style
        else _build_fragments(hlist, start, end)
    )
    own_width = fragments[-1].x + fragments[-1].width  # still in logical order
    height, baseline = metrics.of_line(fragments)
    available = width - indent
    before = after = 0.0  # what hangs at the start and at the end
    if (hanging := hlist.hanging) is not None:
        before = hanging.at_start(start)
        hyphen = _visible_hyphen_width(hlist, end)
        after = hanging.at_end(end, hyphen, own_width - before - available)
        own_width -= before + after
    slack = available - own_width
    x = 0.0 if style.is_rtl else indent  # the indent is at the start edge
    word_spacing = 0.0
    match style.align:
        case Align.RIGHT | Align.DECIMAL:
            x += slack
        case Align.CENTER:
            x += slack / 2
        case Align.JUSTIFY:
            opportunities = sum(map(_count_opportunities, fragments))
            opportunities -= _ends_in_opportunity(fragments) * (2 if after else 1)
            is_last = end.box == len(hlist.texts) - 1
            is_spread = slack > 0 and end.offset < 0 and not is_last
            if opportunities > 0 and (
                is_spread or (slack < -EPSILON and _can_shrink(hlist, start, end, -slack))
            ):
                word_spacing = slack / opportunities
                fragments = _justify(fragments, word_spacing)
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
    anchors = hlist.anchors_between(start.box, end.box) if hlist.anchors else ()
    is_cut = end.offset >= 0 or end.box == len(hlist.texts) - 1
    boundary = 0 if is_cut else hlist.boundaries[end.box]
    return Line(x, 0.0, height, baseline, own_width, fragments, word_spacing, anchors, boundary)


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
    x = 0.0
    arranged = list(fragments)
    for number in reorder([fragment.glyph_style.level for fragment in fragments]):
        arranged[number] = fragments[number]._replace(x=x)
        x += fragments[number].width
    return tuple(arranged)


def _single_fragment(
    hlist: HorizontalList, start: BoxPosition, end: BoxPosition
) -> tuple[InlineFragment, ...]:
    text = _text_between(hlist, start, end)
    return (
        InlineFragment(
            0.0, end.x - start.x + _visible_hyphen_width(hlist, end), text, hlist.styles[0]
        ),
    )


def _build_fragments(
    hlist: HorizontalList, start: BoxPosition, end: BoxPosition
) -> tuple[InlineFragment, ...]:
    styles = hlist.styles
    # A split before the first character of a box ends the line with the box before it.
    last = end.box - 1 if end.offset == 0 else end.box
    fragments: list[InlineFragment] = []
    box = start.box
    while box <= last:
        glyph_style = styles[box]
        stop = box
        while (
            stop < last
            and styles[stop + 1] is glyph_style
            and stop not in hlist.space_styles
            and not isinstance(glyph_style, AtomicInline)
        ):
            stop += 1
        begin = start if box == start.box else BoxPosition(box, 0, hlist.lefts[box])
        finish = end if stop == last else BoxPosition(stop, -1, hlist.rights[stop])
        text = _text_between(hlist, begin, finish)
        hyphen = _visible_hyphen_width(hlist, finish) if stop == last else 0.0
        fragments.append(
            InlineFragment(begin.x - start.x, finish.x - begin.x + hyphen, text, glyph_style)
        )
        if stop < last and (space := hlist.space_style_after(stop)):
            width = hlist.lefts[stop + 1] - hlist.rights[stop]
            fragments.append(
                InlineFragment(finish.x - start.x, width, hlist.spaces_after(stop), space)
            )
        box = stop + 1
    return _merge_adjacent(fragments)


def _merge_adjacent(fragments: list[InlineFragment]) -> tuple[InlineFragment, ...]:
    """Merge neighbours of one glyph style, as a space between elements has the style of one of them."""
    merged: list[InlineFragment] = []
    for fragment in fragments:
        before = merged[-1] if merged else None
        if (
            before is not None
            and before.glyph_style is fragment.glyph_style
            and not isinstance(fragment.glyph_style, AtomicInline)
        ):
            text, width = before.text + fragment.text, before.width + fragment.width
            merged[-1] = before._replace(text=text, width=width)
        else:
            merged.append(fragment)
    return tuple(merged)


def _text_between(hlist: HorizontalList, start: BoxPosition, end: BoxPosition) -> str:
    texts = hlist.texts
    if start.box == end.box:
        text = texts[start.box]
        text = text[start.offset :] if end.offset < 0 else text[start.offset : end.offset]
    else:
        boundaries = hlist.boundaries
        words = [texts[start.box][start.offset :]]
        for box in range(start.box, end.box):
            if boundaries[box] in (SPACE, NO_BREAK_SPACE):
                words.append(hlist.spaces_after(box))
            words.append(texts[box + 1])
        if end.offset >= 0:
            words[-1] = words[-1][: end.offset]
        text = "".join(words)
    if SOFT_HYPHEN in text:
        text = text.replace(SOFT_HYPHEN, "")
    return text + "-" if _visible_hyphen_width(hlist, end) else text


def _visible_hyphen_width(hlist: HorizontalList, end: BoxPosition) -> float:
    if end.offset >= 0 or hlist.boundaries[end.box] != DISCRETIONARY:
        return 0.0
    return hyphen_width(hlist, end.box, len(hlist.texts))


def _justify(
    fragments: tuple[InlineFragment, ...], word_spacing: float
) -> tuple[InlineFragment, ...]:
    shift = 0.0
    justified = []
    for number, fragment in enumerate(fragments, start=1):
        opportunities = _count_opportunities(fragment) - (
            _ends_in_opportunity(fragments) if number == len(fragments) else 0
        )
        extra = opportunities * word_spacing
        justified.append(fragment._replace(x=fragment.x + shift, width=fragment.width + extra))
        shift += extra
    return tuple(justified)


def _count_opportunities(fragment: InlineFragment) -> int:
    """Return the number of justification opportunities of a fragment (CSS Text 3 §6.4).

    They are its spaces; in ideographic text, every character.
    """
    return (
        len(fragment.text) if _is_spaced_between_characters(fragment) else fragment.text.count(" ")
    )


def _ends_in_opportunity(fragments: Sequence[InlineFragment]) -> int:
    """Return 1 if the last opportunity is after the last character, which is not expanded."""
    return int(_is_spaced_between_characters(fragments[-1]))


def _is_spaced_between_characters(fragment: InlineFragment) -> bool:
    glyph_style = fragment.glyph_style
    return (
        isinstance(glyph_style, GlyphStyle)
        and glyph_style.face.is_ideographic
        and not glyph_style.is_shaped
    )
