"""Bar codes in the dots of a printer: modules of whole dots, narrower bars, and what a reader needs.

A label printer of 203 dots per inch draws a bar of 2.6 dots as 2 or as 3, and the code may not be
read. Modules are therefore whole numbers of dots, and corners lie on the grid of dots of the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Final

from workers.engine.barcodes import SYMBOLOGIES
from workers.engine.layout.context import (
    EPSILON,
    ContentProblem,
    PageCanvas,
    PrintedCode,
    Rectangle,
    format_mm,
)
from workers.engine.layout.elements.barcodes.symbols import ModuleRectangle, Symbol
from workers.engine.tree.nodes import Barcode
from workers.engine.units import POINTS_PER_MM

_PARTS: Final = 20  # of a dot, or of a module without dots
# Printers fill every dot that an area touches: areas end a part of a dot inside their edges.
_INSET: Final = 1


def dot_of(dpi: int) -> float:
    """Return the side of a printer's dot, in points."""
    return 72 / dpi


def round_to_dots(module: float, dpi: int | None) -> float:
    """Return the width of the nearest whole number of dots, at least one."""
    if dpi is None:
        return module
    return max(round(module / dot_of(dpi)), 1) * dot_of(dpi)


def snap_to_dots(position: float, dpi: int) -> float:
    """Return the nearest position on the grid of dots of a page."""
    return round(position / dot_of(dpi)) * dot_of(dpi)


def fit_to_dots(
    symbol: Symbol, module: float, node: Barcode
) -> tuple[Symbol, float] | ContentProblem:
    """Return a symbol in parts of a dot, with narrower bars, and the size of its unit in points.

    A module has as many dots as fit into `module` points.
    """
    if node.dpi is None:
        if SYMBOLOGIES[node.symbology].has_fixed_size:
            what = (
                f'"bar-width-reduction" is not accepted for a bar code of type "{node.symbology}"'
            )
            return ContentProblem("barcode-module", what)
        less = round(node.reduction / module * _PARTS)
        if less >= _PARTS:
            return _describe_reduction(node.reduction, module)
        return _refine(symbol, _PARTS, less, less / 2), module / _PARTS
    dot = dot_of(node.dpi)
    dots = int(module / dot + EPSILON)
    if dots < 1:
        least = format_mm(symbol.columns * dot)
        what = f"At {node.dpi} dpi the bar code takes {least}: each module is a dot at least"
        return ContentProblem("barcode-module", what)
    fewer = round(node.reduction / dot)
    if fewer >= dots:
        return _describe_reduction(node.reduction, dots * dot)
    refined = _refine(symbol, dots * _PARTS, fewer * _PARTS + 2 * _INSET, _INSET)
    return refined, dot / _PARTS


def _describe_reduction(reduction: float, module: float) -> ContentProblem:
    what = (
        f"The bar width reduction of {reduction / POINTS_PER_MM:.3g} mm leaves nothing of a module "
        f"of {module / POINTS_PER_MM:.3g} mm"
    )
    return ContentProblem("barcode-module", what)


def _refine(symbol: Symbol, grain: int, less: int, offset: float) -> Symbol:
    """Return a symbol in units of which a module has `grain`, its dark areas `less` units narrower."""
    moved = int(offset)
    if symbol.is_bars or symbol.is_stack:
        areas: Iterable[ModuleRectangle] = (
            (x * grain + moved, y * grain, width * grain - less, height * grain)
            for x, y, width, height in symbol.rectangles
        )
    else:
        areas = _erode(symbol.rectangles, grain, less, moved)
    return replace(
        symbol,
        columns=symbol.columns * grain,
        rows=symbol.rows * grain,
        rectangles=tuple(areas),
        subdivisions=symbol.subdivisions * grain,
    )


def _erode(
    runs: Iterable[ModuleRectangle], grain: int, less: int, moved: int
) -> Iterator[ModuleRectangle]:
    """Yield what is left of rows of modules, each one high, when their edges move inside.

    Modules below one another stay joined.
    """
    rows = {
        y: [(x, x + width) for x, _, width, _ in row]
        for y, row in groupby(runs, key=lambda run: run[1])
    }
    for y, row in rows.items():
        top = y * grain + moved
        for start, end in row:
            yield start * grain + moved, top, (end - start) * grain - less, grain - less
        if not less:
            continue
        for start, end in row:
            for start_below, end_below in rows.get(y + 1, ()):
                left, right = max(start, start_below), min(end, end_below)
                if left < right:
                    width = (right - left) * grain - less
                    yield left * grain + moved, top + grain - less, width, less


def record_code(
    canvas: PageCanvas,
    node: Barcode,
    area: Rectangle,
    module: float,
    first: int,
    *,
    is_linear: bool,
) -> None:
    """Record a bar code on its page: `area` is its symbol, `first` the first of its items.

    The quiet zone of a linear code is beside it, that of others around it.
    """
    quiet = SYMBOLOGIES[node.symbology].quiet * module
    outside = 0.0 if node.has_quiet_zone else quiet
    above = 0.0 if is_linear else outside
    zone = Rectangle(
        area.x - outside, area.y - above, area.width + 2 * outside, area.height + 2 * above
    )
    canvas.codes.append(PrintedCode(node, zone, module, quiet, first, len(canvas.items)))
