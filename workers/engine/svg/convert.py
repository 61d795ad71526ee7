"""Conversion of an SVG file to a vector image of PDF operators."""

from __future__ import annotations

from collections.abc import Callable
from math import floor, log10

from workers.engine.prepared_images import PreparedImage, UndrawableError
from workers.engine.svg.canvas import Canvas
from workers.engine.svg.conversion import Conversion, UserSpace
from workers.engine.svg.drawing import FormXObject, VectorImage
from workers.engine.svg.limits import SIMPLER, DrawingBudget
from workers.engine.svg.reader import SvgElement, read_svg
from workers.engine.svg.rendering import ElementRenderer
from workers.engine.svg.sizes import find_size, fit_content
from workers.engine.svg.stylesheets import RuleIndex
from workers.engine.svg.values import multiply_matrices

_MAX_OMITTED = 20


def convert_svg(data: bytes, key: str, prepare: Callable[[bytes], PreparedImage]) -> VectorImage:
    """Convert a file; `prepare` prepares embedded raster images.

    Nothing outside the file is read. Features that cannot be drawn are omitted and reported.

    Raises:
        UndrawableError: Not well-formed, without a size, with entities, or over a limit.
    """
    root = read_svg(data)
    width, height = find_size(root)
    elements_by_id: dict[str, SvgElement] = {}
    for element in root.walk():
        element_id = element.attributes.get("id")
        if element_id:
            elements_by_id.setdefault(element_id, element)
    budget, omitted = DrawingBudget(len(data)), dict[str, None]()
    sheets = [element.text for element in root.walk() if _is_style_sheet(element)]
    unit = 10.0 ** (2 - floor(log10(max(width, height))))  # the longer side has 100 to 1000 units
    conversion = Conversion(
        elements_by_id, RuleIndex(sheets, budget, omitted), budget, prepare, omitted, unit=unit
    )
    form = _draw(root, conversion, width, height)
    names = tuple(omitted)
    if len(names) > _MAX_OMITTED:
        names = (*names[:_MAX_OMITTED], f"{len(names) - _MAX_OMITTED} more things")
    memory_bytes, has_cmyk = budget.memory_bytes, False
    for image in conversion.images.values():
        memory_bytes += len(image.pixels.data) + (len(image.mask.data) if image.mask else 0)
        has_cmyk = has_cmyk or image.pixels.color_space == "DeviceCMYK"
    return VectorImage(
        key, width, height, form, memory_bytes, names, "".join(conversion.missing), has_cmyk
    )


def _is_style_sheet(element: SvgElement) -> bool:
    """Return whether an element is a style sheet in CSS for paper, a screen or anything."""
    if element.tag != "style":
        return False
    kind = element.attributes.get("type", "").partition(";")[0].strip().lower()
    media = element.attributes.get("media", "").strip().lower() or "all"
    return kind in ("", "text/css") and any(each in media for each in ("all", "print", "screen"))


def _draw(root: SvgElement, conversion: Conversion, width: float, height: float) -> FormXObject:
    """Draw the root element; its `x` and `y` have no meaning here (SVG 2 §5.1.4)."""
    unit = conversion.unit
    fit, viewport = fit_content(root, width, height)
    base = multiply_matrices((unit, 0, 0, -unit, 0, height * unit), fit)
    canvas = Canvas((0.0, 0.0, width * unit, height * unit), conversion.budget)
    try:
        ElementRenderer(conversion).draw_root(root, UserSpace(canvas, base, viewport))
    except RecursionError:
        raise UndrawableError(
            "The SVG nests rendered elements too deeply", advice=SIMPLER
        ) from None
    return canvas.finish(is_group=False)
