"""Phrases: short text on one line, in any faces and directions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from workers.engine.bidi import ControlRemover, resolve_levels
from workers.engine.characters import has_right_to_left
from workers.engine.layout.context import Fonts, PageCanvas
from workers.engine.layout.display import Item, Owner
from workers.engine.layout.lines.building import reorder_fragments
from workers.engine.layout.lines.drawing import draw_text, make_glyphs
from workers.engine.layout.lines.fragments import (
    GlyphStyle,
    InlineFragment,
    find_encoding,
    find_ligatures,
    make_glyph_style,
)
from workers.engine.tree.styles.computed import TextStyle


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
