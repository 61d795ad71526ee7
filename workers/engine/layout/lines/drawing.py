"""Drawing lines: runs of text with their backgrounds, decorations and links."""

from __future__ import annotations

from collections.abc import Sequence

from workers.engine.layout.context import Sheet
from workers.engine.layout.display import Fill, Glyphs, Item, LinkArea, ShapedGlyphs, Stroke
from workers.engine.layout.lines.parts import Inset, Line, Look
from workers.engine.layout.lines.shaped import set_clusters


def draw_lines(sheet: Sheet, lines: Sequence[Line], x: float, y: float, owner: object) -> None:
    """Draw lines below each other; the first line's top left corner is at (x, y)."""
    owner = sheet.owner(owner)
    top = lines[0].y if lines else 0.0
    for line in lines:
        for name in line.spots:
            sheet.anchor(name, x + line.x, y + line.y - top)
        if sheet.is_tracing and not any(isinstance(part.look, Inset) for part in line.parts):
            continue
        baseline = y + line.y - top + line.baseline
        _draw_line(sheet, line, x + line.x, baseline, owner)


def draw_text(
    sheet: Sheet, look: Look, text: str, x: float, baseline: float, owner: object | None
) -> None:
    """Draw text of one look, with neither decoration nor background."""
    sheet.items.append(make_glyphs(look, text, x, baseline, owner))


def make_glyphs(look: Look, text: str, x: float, baseline: float, owner: object | None) -> Item:
    """Give text of one look as an item of a page."""
    style, width = look.style, look.measure(text)
    if look.is_shaped:
        return _shape(look, text, x, baseline, width, 0.0, owner)
    return Glyphs(
        x,
        baseline - style.rise,
        look.face,
        style.size,
        style.color,
        look.face.encode(text),
        text,
        width,
        owner,
        0.0,
        style.letter_spacing,
    )


def _draw_line(sheet: Sheet, line: Line, x: float, baseline: float, owner: object | None) -> None:
    word_spacing = line.word_spacing
    for part_x, width, text, look in line.parts:
        left = x + part_x
        if isinstance(look, Inset):
            look.piece.draw(sheet, left, baseline - look.piece.height)
            continue
        style, face, link, _, is_shaped = look
        size = style.size
        if style.background is not None:
            _draw_background(sheet, look, left, baseline, width, owner)
        if is_shaped:
            sheet.items.append(_shape(look, text, left, baseline, width, word_spacing, owner))
        else:
            letter_spacing = style.letter_spacing
            if not word_spacing:
                codes = face.encode(text)
            elif face.is_ideographic:
                codes = face.encode(text)
                letter_spacing += word_spacing
            else:
                codes = face.encode_spread(text, word_spacing / size * 1000)
            sheet.items.append(
                Glyphs(
                    left,
                    baseline - style.rise,
                    face,
                    size,
                    style.color,
                    codes,
                    text,
                    width,
                    owner,
                    word_spacing,
                    letter_spacing,
                )
            )
        if style.decoration != "none":
            _draw_decoration(sheet, look, left, baseline, width, owner)
        if link is not None:
            top = baseline - face.ascent * size
            sheet.link(LinkArea(left, top, width, (face.ascent + face.descent) * size, link))


def _shape(
    look: Look,
    text: str,
    x: float,
    baseline: float,
    width: float,
    word_spacing: float,
    owner: object | None,
) -> ShapedGlyphs:
    style = look.style
    clusters = tuple(set_clusters(look.run, text, word_spacing))
    y = baseline - style.rise
    return ShapedGlyphs(x, y, look.face, style.size, style.color, clusters, text, width, owner)


def _draw_background(
    sheet: Sheet, look: Look, x: float, baseline: float, width: float, owner: object | None
) -> None:
    style, face = look.style, look.face
    assert style.background is not None
    top = baseline - style.rise - face.ascent * style.size
    height = (face.ascent + face.descent) * style.size
    sheet.items.append(Fill(x, top, width, height, style.background, owner))


def _draw_decoration(
    sheet: Sheet, look: Look, x: float, baseline: float, width: float, owner: object | None
) -> None:
    style, face = look.style, look.face
    is_underline = style.decoration == "underline"
    position = face.underline_position if is_underline else face.strike_position
    y = baseline - style.rise - position * style.size
    thickness = face.underline_thickness * style.size
    sheet.items.append(Stroke(x, y, x + width, y, thickness, style.color, owner))
