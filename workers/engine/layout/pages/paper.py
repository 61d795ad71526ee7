"""The background, watermarks and crop marks of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import cos, inf, radians, sin
from typing import Final

from workers.engine.layout.context import EPSILON, ContentProblem, LayoutContext
from workers.engine.layout.display import Fill, Item, LaidOutPage, Picture, Restore, Save, Stroke
from workers.engine.layout.lines.drawing import phrase_items, set_phrase
from workers.engine.layout.pictures import find_picture, warn_of_stretching
from workers.engine.tree.document import PageMaster, Watermark
from workers.engine.tree.node_values import ImageSource
from workers.engine.tree.styles.computed import TextStyle
from workers.engine.units import BLACK, mm

_WATERMARK_SHARE: Final = 0.7  # of the diagonal, for a watermark without a size
# For watermarks: bold, and of size 1 so that the text can be measured before its size is known.
_MARK_STYLE: Final = TextStyle((), 1.0, 700, False)
_MARK_LENGTH: Final = mm(5)
_MARK_DISTANCE: Final = mm(3)  # from the edge of the paper, or the bleed if that is more
_MARK_WIDTH: Final = 0.25


def make_page(master: PageMaster) -> LaidOutPage:
    """Return an empty page of a master, with bleed and slug around the paper."""
    marks = max(_MARK_DISTANCE - master.bleed, 0.0) + _MARK_LENGTH
    return LaidOutPage(
        master.width,
        master.height,
        bleed=master.bleed,
        slug=marks if master.has_crop_marks else 0.0,
        media=master.media,
    )


def draw_background(context: LayoutContext, master: PageMaster, items: list[Item]) -> None:
    """Draw the background colour and image of a page, including the bleed."""
    bleed = master.bleed
    area = (-bleed, -bleed, master.width + 2 * bleed, master.height + 2 * bleed)
    if master.background is not None:
        items.append(Fill(*area, master.background, None))
    if master.background_image is None:
        return
    place = None if master.source is None else master.source.location
    image = find_picture(context, master.background_image, master.source)
    if isinstance(image, ContentProblem):
        context.findings.error(image.code, f"{image.text}, for the background of the page", place)
        return
    warn_of_stretching(image, *area[2:], place, context.findings)
    items.append(Picture(*area, image, None, master))


def draw_crop_marks(page: LaidOutPage) -> None:
    """Draw two short lines at each corner to mark where the paper is trimmed."""
    if not page.slug:
        return
    near = max(page.bleed, _MARK_DISTANCE)
    far = near + _MARK_LENGTH
    for edge in (0.0, page.height):
        for start, end in ((-far, -near), (page.width + near, page.width + far)):
            page.items.append(Stroke(start, edge, end, edge, _MARK_WIDTH, BLACK, None))
    for edge in (0.0, page.width):
        for start, end in ((-far, -near), (page.height + near, page.height + far)):
            page.items.append(Stroke(edge, start, edge, end, _MARK_WIDTH, BLACK, None))


def draw_watermarks(
    context: LayoutContext, marks: Sequence[Watermark], page: LaidOutPage, *, are_over: bool
) -> None:
    """Draw the watermarks above the content, or those below it."""
    for mark in marks:
        if mark.is_over is not are_over:
            continue
        if mark.picture is None:
            _draw_watermark(context, mark, page)
        else:
            _draw_picture(context, mark, mark.picture, page)


def _draw_picture(
    context: LayoutContext, mark: Watermark, picture: ImageSource, page: LaidOutPage
) -> None:
    """Draw a rotated picture in the centre of the page, scaled to its share of it."""
    image = find_picture(context, picture, mark.source)
    if isinstance(image, ContentProblem):
        place = None if mark.source is None else mark.source.location
        context.findings.error(image.code, f"{image.text}, for the watermark", place)
        return
    width, height = image.width_points, image.height_points
    across, down = abs(cos(radians(mark.rotate))), abs(sin(radians(mark.rotate)))
    scale = _WATERMARK_SHARE * min(
        page.width / (width * across + height * down),
        page.height / (width * down + height * across),
    )
    width, height = width * scale, height * scale
    left, top = (page.width - width) / 2, (page.height - height) / 2
    centre = (page.width / 2, page.height / 2)
    page.items.append(Save(rotate=(-mark.rotate, *centre), opacity=mark.opacity))
    page.items.append(Picture(left, top, width, height, image, None))
    page.items.append(Restore())


def _draw_watermark(context: LayoutContext, mark: Watermark, page: LaidOutPage) -> None:
    """Draw text in the centre of the page; `rotate` is counter-clockwise."""
    style = replace(_MARK_STYLE, color=mark.color)
    width = sum(part.width for part in set_phrase(context.fonts, style, mark.text))
    if width <= 0:
        return
    size = mark.size or _diagonal(page, mark.rotate) * _WATERMARK_SHARE / width
    centre = (page.width / 2, page.height / 2)
    left = centre[0] - width * size / 2
    baseline = centre[1] + context.fonts.find(style).cap_height * size / 2
    page.items.append(Save(rotate=(-mark.rotate, *centre), opacity=mark.opacity))
    parts = set_phrase(context.fonts, replace(style, size=size), mark.text)
    page.items += phrase_items(parts, left, baseline)
    page.items.append(Restore())


def _diagonal(page: LaidOutPage, angle: float) -> float:
    """Return the length of a line through the centre of the page at an angle in degrees."""
    across, down = abs(cos(radians(angle))), abs(sin(radians(angle)))
    return min(
        page.width / across if across > EPSILON else inf,
        page.height / down if down > EPSILON else inf,
    )
