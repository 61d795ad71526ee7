"""Phrases: short text on one line, in whatever faces and directions it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from workers.engine.layout.context import Fonts, Sheet
from workers.engine.layout.display import Item
from workers.engine.layout.fonts import needs_shaping
from workers.engine.layout.lines.bidi import CONTROLS, has_right_to_left, resolve_levels
from workers.engine.layout.lines.breaking import arrange
from workers.engine.layout.lines.drawing import draw_text, make_glyphs
from workers.engine.layout.lines.parts import Look, Part
from workers.engine.tree.styles import TextStyle


def text_measurer(fonts: Fonts, style: TextStyle) -> Callable[[str], float]:
    """Give the quickest function that measures any text of a style, in points."""
    measure, size, spacing = fonts.find(style).measure, style.size, style.letter_spacing

    def measure_any(text: str) -> float:
        if text.isascii():
            return measure(text) * size + spacing * len(text)
        return sum(look.measure(part) for look, part in _find_looks(fonts, style, text))

    return measure_any


def set_phrase(
    fonts: Fonts, style: TextStyle, text: str, *, is_rtl: bool = False
) -> tuple[Part, ...]:
    """Set a text on one line; its parts are placed from 0 on."""
    parts = [
        Part(0.0, look.measure(part), part, look)
        for look, part in _find_looks(fonts, style, text, is_rtl=is_rtl)
    ]
    return arrange(tuple(parts))


def phrase_items(parts: tuple[Part, ...], x: float, baseline: float) -> list[Item]:
    """Give a phrase that was set as items of a page, as decoration."""
    return [
        make_glyphs(part.look, part.text, x + part.x, baseline, None)
        for part in parts
        if isinstance(part.look, Look)
    ]


def draw_phrase(
    sheet: Sheet, parts: tuple[Part, ...], x: float, baseline: float, owner: object | None
) -> None:
    """Draw a phrase that was set."""
    for part in parts:
        if isinstance(part.look, Look):
            draw_text(sheet, part.look, part.text, x + part.x, baseline, owner)


def _find_looks(
    fonts: Fonts, style: TextStyle, text: str, *, is_rtl: bool = False
) -> Iterator[tuple[Look, str]]:
    runs = [(0, len(text), 0)]
    if is_rtl or has_right_to_left(text):
        runs = resolve_levels(text, is_rtl=is_rtl)
    for start, end, level in runs:
        for face, part in fonts.split(style, CONTROLS.sub("", text[start:end])):
            is_shaped = face.shapes and (level % 2 == 1 or needs_shaping(part))
            yield Look(style, face, None, level, is_shaped), part
