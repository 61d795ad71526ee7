"""The paper: what lies under and over everything on a page: background, watermarks, crop marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import cos, inf, radians, sin
from typing import Final

from workers.engine.layout.context import EPSILON, Context
from workers.engine.layout.display import Fill, Item, Page, Picture, Restore, Save, Stroke
from workers.engine.layout.lines.phrases import phrase_items, set_phrase
from workers.engine.layout.pictures import find_picture
from workers.engine.layout.problems import Problem
from workers.engine.tree.nodes import AnyImage, PageMaster, Watermark
from workers.engine.tree.styles import TextStyle
from workers.engine.units import BLACK, mm

_WATERMARK_SHARE: Final = 0.7  # of the diagonal, for a mark that states no size
# Of a mark: bold and plain, of size 1 so that it can be measured before it has one.
_MARK_STYLE: Final = TextStyle((), 1.0, 700, False, BLACK, 0.0, "none", 0.0, None, "en")
_MARK_LENGTH: Final = mm(5)
_MARK_DISTANCE: Final = mm(3)  # from the edge of the paper, or the bleed where that is more
_MARK_WIDTH: Final = 0.25


def make_page(master: PageMaster) -> Page:
    """Make the empty page of a master, with room outside of the paper for bleed and marks."""
    marks = max(_MARK_DISTANCE - master.bleed, 0.0) + _MARK_LENGTH
    return Page(
        master.width,
        master.height,
        bleed=master.bleed,
        slug=marks if master.has_crop_marks else 0.0,
    )


def draw_background(context: Context, master: PageMaster, items: list[Item]) -> None:
    """Draw the colour and image of a page, into the bleed."""
    bleed = master.bleed
    area = (-bleed, -bleed, master.width + 2 * bleed, master.height + 2 * bleed)
    if master.background is not None:
        items.append(Fill(*area, master.background, None))
    if master.background_image is None:
        return
    image = find_picture(context, master.background_image, master.source)
    if isinstance(image, Problem):
        places = () if master.source is None else (master.source.place,)
        context.findings.error(image.code, f"{image.text}, for the background of the page", *places)
        return
    items.append(Picture(*area, image, None))


def draw_crop_marks(page: Page) -> None:
    """Draw two short lines at each corner, where the paper is to be cut."""
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
    context: Context, marks: Sequence[Watermark], page: Page, *, are_over: bool
) -> None:
    """Draw the marks that lie over the content, or those that lie under it."""
    for mark in marks:
        if mark.is_over is not are_over:
            continue
        if mark.picture is None:
            _draw_watermark(context, mark, page)
        else:
            _draw_picture(context, mark, mark.picture, page)


def _draw_picture(context: Context, mark: Watermark, picture: AnyImage, page: Page) -> None:
    """Draw a picture in the middle of the page, turned, and as large as its share of it."""
    image = find_picture(context, picture, mark.source)
    if isinstance(image, Problem):
        places = () if mark.source is None else (mark.source.place,)
        context.findings.error(image.code, f"{image.text}, for the watermark", *places)
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


def _draw_watermark(context: Context, mark: Watermark, page: Page) -> None:
    """Draw a mark in the middle of the page; `rotate` is against the clock."""
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


def _diagonal(page: Page, angle: float) -> float:
    """Give how long a line through the middle of the page is, at an angle in degrees."""
    across, down = abs(cos(radians(angle))), abs(sin(radians(angle)))
    return min(
        page.width / across if across > EPSILON else inf,
        page.height / down if down > EPSILON else inf,
    )
