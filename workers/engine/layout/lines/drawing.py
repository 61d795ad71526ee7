"""Drawing of lines and phrases: text with backgrounds, decorations and links.

A phrase is short text on one line, in any faces and directions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from workers.engine.bidi import ControlRemover, resolve_levels
from workers.engine.characters import has_right_to_left
from workers.engine.fonts import Face
from workers.engine.layout.context import Fonts, PageCanvas
from workers.engine.layout.display import Fill, GlyphRun, Item, LinkArea, Owner, ShapedRun, Stroke
from workers.engine.layout.lines.building import reorder_fragments
from workers.engine.layout.lines.fragments import (
    AtomicInline,
    GlyphStyle,
    InlineFragment,
    Line,
    find_encoding,
    find_ligatures,
    has_atomic_inline,
    make_glyph_style,
    place_clusters,
)
from workers.engine.layout.lines.horizontal_lists import DISCRETIONARY, SOFT_HYPHEN, SPACE
from workers.engine.tree.nodes import SourceNode
from workers.engine.tree.styles.computed import TextStyle

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


def draw_text(
    canvas: PageCanvas, glyph_style: GlyphStyle, text: str, x: float, baseline: float, owner: Owner
) -> None:
    """Draw text of one glyph style, without decoration and background."""
    canvas.items.append(make_glyphs(glyph_style, text, x, baseline, owner))


def make_glyphs(
    glyph_style: GlyphStyle, text: str, x: float, baseline: float, owner: Owner
) -> Item:
    """Return text of one glyph style as a display item; `x` and `baseline` in points."""
    style, width = glyph_style.style, glyph_style.measure(text)
    if glyph_style.is_shaped:
        return _make_shaped_glyphs(glyph_style, text, x, baseline, width, 0.0, owner)
    shown = glyph_style.encodable(text)
    return GlyphRun(
        x,
        baseline - style.rise,
        glyph_style.face,
        style.size,
        style.color,
        glyph_style.face.encode(shown),
        text,
        width,
        owner,
        style.letter_spacing,
        shown,
    )


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
        style, face, link, _, is_shaped, joined, _ = glyph_style
        if tree is not None and isinstance(base, int):
            owner = tree.owner_of(base, link, style.lang)
        size = style.size
        if style.background is not None:
            _draw_background(canvas, glyph_style, left, baseline, width, owner)
        if is_shaped:
            canvas.items.append(
                _make_shaped_glyphs(glyph_style, text, left, baseline, width, word_spacing, owner)
            )
            if fragment is last:
                end = left if glyph_style.level % 2 else left + width
                canvas.items.append(make_glyphs(glyph_style, " ", end, baseline, owner))
        else:
            letter_spacing = style.letter_spacing
            shown = text if joined is None else joined[text]
            codes = _encode(face, shown, size, word_spacing)
            if face.is_ideographic:
                letter_spacing += word_spacing
            said = text
            if fragment is last:
                codes, said, shown = face.append_space(codes), text + " ", shown + " "
            canvas.items.append(
                GlyphRun(
                    left,
                    baseline - style.rise,
                    face,
                    size,
                    style.color,
                    codes,
                    said,
                    width,
                    owner,
                    letter_spacing,
                    shown,
                )
            )
        if style.decoration != "none":
            _draw_decoration(canvas, glyph_style, left, baseline, width, owner)
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


def _make_shaped_glyphs(
    glyph_style: GlyphStyle,
    text: str,
    x: float,
    baseline: float,
    width: float,
    word_spacing: float,
    owner: Owner,
) -> ShapedRun:
    style = glyph_style.style
    clusters = tuple(place_clusters(glyph_style.shaping, text, word_spacing))
    y = baseline - style.rise
    return ShapedRun(x, y, glyph_style.face, style.size, style.color, clusters, text, width, owner)


def _draw_background(
    canvas: PageCanvas,
    glyph_style: GlyphStyle,
    x: float,
    baseline: float,
    width: float,
    owner: Owner,
) -> None:
    style, face = glyph_style.style, glyph_style.face
    assert style.background is not None
    top = baseline - style.rise - face.ascent * style.size
    height = (face.ascent + face.descent) * style.size
    canvas.items.append(Fill(x, top, width, height, style.background, owner))


def _draw_decoration(
    canvas: PageCanvas,
    glyph_style: GlyphStyle,
    x: float,
    baseline: float,
    width: float,
    owner: Owner,
) -> None:
    style, face = glyph_style.style, glyph_style.face
    is_underline = style.decoration == "underline"
    position = face.underline_position if is_underline else face.strike_position
    y = baseline - style.rise - position * style.size
    thickness = face.underline_thickness * style.size
    canvas.items.append(Stroke(x, y, x + width, y, thickness, style.color, owner))


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
    fonts: Fonts, style: TextStyle, text: str, *, is_rtl: bool = False
) -> tuple[InlineFragment, ...]:
    """Return a text set on one line; the first fragment starts at x 0."""
    fragments = [
        InlineFragment(0.0, glyph_style.measure(run), run, glyph_style)
        for glyph_style, run in _resolve_glyph_styles(fonts, style, text, is_rtl=is_rtl)
    ]
    return reorder_fragments(tuple(fragments))


def phrase_items(fragments: tuple[InlineFragment, ...], x: float, baseline: float) -> list[Item]:
    """Return a phrase as display items without an owner, as decoration."""
    return [
        make_glyphs(fragment.glyph_style, fragment.text, x + fragment.x, baseline, None)
        for fragment in fragments
        if isinstance(fragment.glyph_style, GlyphStyle)
    ]


def draw_phrase(
    canvas: PageCanvas,
    fragments: tuple[InlineFragment, ...],
    x: float,
    baseline: float,
    owner: Owner,
) -> None:
    """Draw a phrase; `x` and `baseline` in points."""
    for fragment in fragments:
        if isinstance(fragment.glyph_style, GlyphStyle):
            draw_text(canvas, fragment.glyph_style, fragment.text, x + fragment.x, baseline, owner)


def _resolve_glyph_styles(
    fonts: Fonts, style: TextStyle, text: str, *, is_rtl: bool = False
) -> Iterator[tuple[GlyphStyle, str]]:
    runs = [(0, len(text), 0)]
    if is_rtl or has_right_to_left(text):
        runs = resolve_levels(text, is_rtl=is_rtl)
    controls = ControlRemover()
    for start, end, level in runs:
        for face, run in fonts.split(style, controls.remove(text[start:end], level)):
            separator = controls.take_separator()
            yield make_glyph_style(style, face, level=level, text=run, separator=separator), run
