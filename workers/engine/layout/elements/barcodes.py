"""Bar codes: a symbol of dark areas for a checked value, or the problem why there is none.

MaxiCode (ISO/IEC 16023) is hexagons around a bull's eye; postal codes are bars of four states in the
one size of their standard; a Swiss QR code has a cross in its middle (SIX, Implementation Guidelines
QR-bill, 6.4).

A label printer of 203 dots per inch draws a bar of 2.6 dots as 2 or as 3, and the code may not be
read. Modules for it are whole numbers of dots, and corners lie on the grid of dots of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from math import cos, pi, sin
from typing import Any, Final

import zxingcpp

from workers.engine.barcodes import (
    SYMBOLOGIES,
    BarcodeSpec,
    BarcodeValue,
    InvalidPaymentError,
    InvalidValueError,
    PaymentFormat,
    StateBars,
    Symbology,
    SymbolShape,
    read_add_on,
    read_escapes,
)
from workers.engine.diagnostics import Findings, Severity
from workers.engine.layout.context import (
    EPSILON,
    ContentProblem,
    FreeZone,
    LayoutProblem,
    PageCanvas,
    Rectangle,
    format_mm,
)
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary import read_attribute
from workers.engine.tree.nodes import Barcode
from workers.engine.units import POINTS_PER_MM, mm

ModuleRectangle = tuple[int, int, int, int]
ModulePolygon = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol with its quiet zone: its size, and its dark rectangles as (x, y, width, height), in
    modules.

    The bars of a linear symbol may have any height; a stack is rows of bars, each of a fixed
    height. `text` is the human-readable interpretation, empty for none. With `subdivisions` all
    coordinates are that fraction of a module. `side` is the width in points that the standard
    prescribes, 0 if any, and `spare` how much it may differ. `polygons` are dark areas of other
    shapes, and holes in them. `overlays` are painted over the rectangles, light and dark in turn.
    """

    columns: int
    rows: int
    rectangles: tuple[ModuleRectangle, ...]
    is_bars: bool = False
    text: str = ""
    subdivisions: int = 1
    side: float = 0.0
    spare: float = 0.0
    polygons: tuple[ModulePolygon, ...] = ()
    is_stack: bool = False
    overlays: tuple[tuple[ModuleRectangle, ...], ...] = ()


SWISS_SIDE: Final = 46  # millimetres, for any content (6.4)
SWISS_QUIET: Final = 5  # millimetres around it (3.5.2)
SWISS_GRAIN: Final = 92  # parts of a module: with n modules on 46 mm, a millimetre is 2n parts

_CROSS: Final = 7  # millimetres, with its white edge (6.4.2)
# The white ground, black field and white arms published by SIX, in a square of 19.8 units.
_CROSS_SIDE: Final = 19.8
_CROSS_LAYERS: Final = (
    ((0.0, 0.0, _CROSS_SIDE, _CROSS_SIDE),),
    ((1.4, 1.4, 17.0, 17.0),),
    ((4.4, 8.25, 11.0, 3.3), (8.25, 4.4, 3.3, 11.0)),
)

_GRAIN: Final = 200  # parts of a module
_WIDTH: Final = 28.14  # mm, quiet zone included, of 32 modules (ISO/IEC 16023, 4.11)
_COLUMNS, _ROWS, _QUIET = 32.0, 30.87, 1.0
_CENTRES: Final = re.compile(r"M([\d.]+) ([\d.]+)L")
_DOWN_TO_CENTRE: Final = 0.5  # a path starts at the lower corner of its hexagon
_BULLSEYE: Final = (15.5, 15.43)
_RINGS: Final = (
    (4.108, 0.785),
    (2.539, 0.785),
    (0.97, 0.785),
)  # radius and width of the dark rings
_SIDES_OF_RING: Final = 96


def make_maxicode(code: Any, text: str, *, has_quiet_zone: bool) -> Symbol:
    """Return the hexagons and rings of a MaxiCode symbol in its fixed size."""
    moved = 0.0 if has_quiet_zone else -_QUIET
    centres = [
        (float(x) + moved, float(y) - _DOWN_TO_CENTRE + moved)
        for x, y in _CENTRES.findall(code.to_svg(scale=1, add_quiet_zones=True))
    ]
    polygons = [_polygon(x, y, 0.5, 6, turned=pi / 2) for x, y in centres]
    x, y = (middle + moved for middle in _BULLSEYE)
    for radius, width in _RINGS:
        polygons.append(_polygon(x, y, radius + width / 2, _SIDES_OF_RING))
        # A hole runs the other way round (ISO 32000-1, 8.5.3.3.2).
        polygons.append(_polygon(x, y, radius - width / 2, _SIDES_OF_RING)[::-1])
    columns, rows = (round((side + 2 * moved) * _GRAIN) for side in (_COLUMNS, _ROWS))
    side = mm(_WIDTH * (_COLUMNS + 2 * moved) / _COLUMNS)
    return Symbol(
        columns, rows, (), text=text, subdivisions=_GRAIN, side=side, polygons=tuple(polygons)
    )


def _polygon(
    x: float, y: float, radius: float, corners: int, *, turned: float = 0.0
) -> ModulePolygon:
    angles = [turned + 2 * pi * corner / corners for corner in range(corners)]
    return tuple(
        (round((x + radius * cos(angle)) * _GRAIN), round((y + radius * sin(angle)) * _GRAIN))
        for angle in angles
    )


_TRACKING: Final = 20  # digits before the ZIP code


def draw_states(encodable: BarcodeValue, size: StateBars, *, has_quiet_zone: bool) -> Symbol:
    """Return a bar for each state of a content; digits are those of an Intelligent Mail barcode."""
    states = encodable.content
    if states.isdigit():
        from reportlab.graphics.barcode.usps4s import USPS_4State  # loads its graphics

        states = USPS_4State(states[:_TRACKING], states[_TRACKING:]).barcodes
    left, above = (size.beside, size.above) if has_quiet_zone else (0, 0)
    reaches = {"T": (0, 0), "A": (1, 0), "D": (0, 1), "F": (1, 1)}  # above and below the tracker
    bars = tuple(
        (
            left + size.pitch * at,
            above + size.reach * (1 - up),
            size.width,
            size.tracker + size.reach * (up + down),
        )
        for at, (up, down) in enumerate(reaches[state] for state in states)
    )
    columns = size.pitch * (len(bars) - 1) + size.width + 2 * left
    return Symbol(
        columns,
        size.tracker + 2 * size.reach + 2 * above,
        bars,
        text=encodable.text,
        subdivisions=size.pitch,
        side=mm(columns * size.part),
    )


CODE: Final = "barcode-value"
MAX_QR_BYTES: Final = 2953  # version 40, level L, byte mode


def encode_barcode(node: BarcodeSpec) -> Symbol | ContentProblem:
    """Encode the value of a bar code by its symbology; an invalid value is a problem, never a symbol."""
    kind = SYMBOLOGIES.get(node.symbology)
    if kind is None:
        known = ", ".join(SYMBOLOGIES)
        what = f'Bar code type "{node.symbology}" is not known; use one of {known}'
        return ContentProblem("barcode-type", escape_controls(what))
    try:
        return _encode(node, kind)
    except InvalidValueError as wrong:
        return ContentProblem(CODE, escape_controls(str(wrong)))


def escape_controls(text: str) -> str:
    """Return a message with its control characters written as U+000A."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else f"U+{ord(char):04X}" for char in text)


def _encode(node: BarcodeSpec, kind: Symbology) -> Symbol:
    for name, given in _options(node).items():
        if given and not kind.accepts(name):
            takers = ", ".join(other for other, one in SYMBOLOGIES.items() if one.accepts(name))
            raise InvalidValueError(
                f'"{name}" is not accepted for a bar code of type "{node.symbology}"; it is for {takers}'
            )
    if kind.payment is not None:
        return _encode_payment(node, kind, kind.payment)
    value = node.value
    if not isinstance(value, str):
        raise InvalidValueError(
            f'A bar code of type "{node.symbology}" takes a text, not an object'
        )
    if node.has_escapes:
        try:
            value = read_escapes(value)
        except InvalidValueError as wrong:
            raise InvalidValueError(f"The value of the bar code cannot be read: {wrong}") from wrong
    if not value:
        raise InvalidValueError("The value of the bar code is empty")
    if kind.format == "QRCode" and len(value.encode("utf-8", "replace")) > MAX_QR_BYTES:
        raise _too_long(node)
    return _encode_typed(value, node, kind)


def _options(node: BarcodeSpec) -> dict[str, object]:
    # 0 is a valid level of correction.
    correction = None if node.correction is None else str(node.correction)
    return {
        "columns": node.columns,
        "correction": correction,
        "add-on": node.add_on,
        "dpi": node.dpi,
    }


_STATED: Final = ("type", "level", "columns", "correction", "add-on", "escapes")


def check_barcodes(root: Element, findings: Findings) -> None:
    """Report the bar codes of a template whose value is static and invalid."""
    for element in root.walk():
        given = element.attributes
        if element.tag != "barcode" or any("{{" in text for text in given.values()):
            continue
        symbology, level, columns, correction, add_on, has_escapes = (
            read_attribute(element, name) for name in _STATED
        )
        if symbology is None or "value" not in given:
            continue  # reported by the checks of the syntax
        problem = encode_barcode(
            BarcodeSpec(
                symbology,
                given["value"],
                level,
                columns=columns,
                correction=correction,
                add_on=add_on or "",
                has_escapes=has_escapes,
            )
        )
        if isinstance(problem, ContentProblem):
            findings.error(problem.code, problem.text, element.location)


def _encode_typed(value: str, node: BarcodeSpec, kind: Symbology) -> Symbol:
    try:
        encodable = _with_add_on(kind.read(value), node.add_on)
        options = _writer_options(encodable.content, node, kind)
    except InvalidValueError as wrong:
        raise InvalidValueError(
            f'The value does not suit a bar code of type "{node.symbology}": {wrong}'
        ) from wrong
    if kind.bars is not None:
        return draw_states(encodable, kind.bars, has_quiet_zone=node.has_quiet_zone)
    # As text the encoder does not accept U+0080 to U+009F.
    is_bytes = kind.format == "Code128" and not kind.is_gs1
    content = encodable.content
    code = _write(content.encode("latin-1") if is_bytes else content, node, kind, options)
    if kind.shape is SymbolShape.HEXAGONS:
        return make_maxicode(code, encodable.text, has_quiet_zone=node.has_quiet_zone)
    symbol = _make_symbol(code, node, kind, encodable.text)
    if node.columns and not _has_columns(symbol, node, kind):
        raise _does_not_fit(node)
    return symbol


def _write(
    content: str | bytes, node: BarcodeSpec, kind: Symbology, options: Mapping[str, object]
) -> Any:
    """Return the symbol of zxing-cpp.

    Raises:
        InvalidValueError: The content does not fit.
    """
    try:
        return zxingcpp.create_barcode(content, zxingcpp.BarcodeFormat[kind.format], **options)
    except (ValueError, UnicodeError):
        raise _too_long(node) if kind.format == "QRCode" else _does_not_fit(node) from None


def _with_add_on(encodable: BarcodeValue, add_on: str) -> BarcodeValue:
    if not add_on:
        return encodable
    digits = read_add_on(add_on)
    return BarcodeValue(f"{encodable.content}+{digits}", f"{encodable.text}  {digits}")


def _writer_options(content: str | bytes, node: BarcodeSpec, kind: Symbology) -> dict[str, object]:
    options: dict[str, object] = {"gs1": True} if kind.is_gs1 else {}
    if kind.format == "DataMatrix":
        options["force_square"] = True
    payment = kind.payment
    if payment is not None and payment.version is not None:
        options["version"] = payment.version
    if payment is not None and payment.charset is not None:
        options["eci"] = payment.charset
    # Readers interpret bytes without a declared character set as Latin-1 or as UTF-8.
    elif isinstance(content, str) and not content.isascii() and not kind.is_latin:
        options["eci"] = "UTF-8"
    if kind.levels:
        options["ec_level"] = _check_level(node, kind.levels)
    if node.correction is not None and kind.corrections is not None:
        options["ec_level"] = _check_correction(node.correction, *kind.corrections)
    if node.columns and kind.columns is not None:
        options["columns"] = _check_columns(node.columns, kind.columns.most)
    return options


def _check_level(node: BarcodeSpec, levels: tuple[str, ...]) -> str:
    level = node.level or "M"
    if level not in levels:
        raise InvalidValueError(f"level {level} is not accepted; use one of {', '.join(levels)}")
    return level


def _check_correction(correction: int, low: int, high: int) -> str:
    if not low <= correction <= high:
        raise InvalidValueError(f"its correction is {correction}; it takes {low} to {high}")
    return str(correction)


def _check_columns(columns: int, most: int) -> int:
    if columns > most:
        raise InvalidValueError(f"its columns are {columns}; it takes 1 to {most}")
    return columns


def _has_columns(symbol: Symbol, node: BarcodeSpec, kind: Symbology) -> bool:
    """Return whether the encoder used the requested columns; it uses more where the content does not fit."""
    modules = symbol.columns - 2 * (kind.quiet if node.has_quiet_zone else 0)
    sizes = kind.columns
    assert node.columns is not None
    assert sizes is not None
    return modules <= sizes.per_column * node.columns + sizes.fixed


def _does_not_fit(node: BarcodeSpec) -> InvalidValueError:
    advice = "shorten it"
    if node.columns:
        advice += f", or use more columns than {node.columns}"
    if node.correction is not None:
        advice += ", or a lower correction"
    return InvalidValueError(
        f'The value does not fit a bar code of type "{node.symbology}"; {advice}'
    )


def _make_symbol(code: Any, node: BarcodeSpec, kind: Symbology, text: str) -> Symbol:
    quiet = kind.quiet if node.has_quiet_zone else 0
    image = memoryview(code.to_image(scale=1, add_quiet_zones=False))
    assert image.shape is not None
    columns, pixels = image.shape[1], image.tobytes()
    lines = [pixels[start : start + columns] for start in range(0, len(pixels), columns)]
    above = quiet
    # Merging equal rows of a matrix costs more than it saves.
    rows = [(line, 1) for line in lines]
    if kind.shape is SymbolShape.STACK:
        rows = [(line, len([*equal])) for line, equal in groupby(lines)]
        # Of stacked symbols only PDF417 has a quiet zone above and below, not only at its sides.
        above = quiet if kind.format == "PDF417" else 0
    elif kind.shape is SymbolShape.BARS:
        # Guard bars are longer than others, and an add-on starts lower: the middle row crosses
        # them all.
        rows, above = [(lines[len(lines) // 2], kind.height)], 0
    areas: list[ModuleRectangle] = []
    y = above
    for line, height in rows:
        x = quiet
        # Half the time of a regular expression: most runs are one or two modules long.
        for run in line.split(_LIGHT):
            width = len(run)
            if width:
                areas.append((x, y, width, height))
            x += width + 1
        y += height
    return Symbol(
        columns + 2 * quiet,
        y + above,
        tuple(areas),
        is_bars=kind.shape is SymbolShape.BARS,
        text=text,
        is_stack=kind.shape is SymbolShape.STACK,
    )


_LIGHT: Final = b"\xff"  # a pixel


def _encode_payment(node: BarcodeSpec, kind: Symbology, payment: PaymentFormat) -> Symbol:
    symbology = node.symbology
    if not isinstance(node.value, Mapping):
        raise InvalidValueError(
            f'A bar code of type "{symbology}" takes an object with {payment.members}, not a text'
        )
    if node.level not in ("", "M"):
        raise InvalidValueError(f'"{symbology}" is always of level M, not "{node.level}"')
    try:
        content = payment.write(node.value)
    except InvalidPaymentError as wrong:
        raise InvalidValueError(str(wrong)) from wrong
    code = _write(content, node, kind, _writer_options(content, node, kind))
    symbol = _make_symbol(code, node, kind, "")
    if symbology == "swiss-qr":
        return _add_swiss_cross(symbol, node, kind.quiet)
    if payment.sides is not None:
        quiet = 2 * kind.quiet if node.has_quiet_zone else 0
        scale = symbol.columns / (symbol.columns - quiet)
        least, most = (mm(side) * scale for side in payment.sides)
        return replace(symbol, side=(least + most) / 2, spare=(most - least) / 2)
    return symbol


def _add_swiss_cross(symbol: Symbol, node: BarcodeSpec, quiet_modules: int) -> Symbol:
    """Lay the Swiss cross over a QR code, and apply the size and quiet zone of the guideline."""
    quiet = quiet_modules if node.has_quiet_zone else 0
    modules = symbol.columns - 2 * quiet
    edge = 2 * modules * SWISS_QUIET if node.has_quiet_zone else 0
    side = SWISS_GRAIN * modules + 2 * edge
    dark = _place(symbol.rectangles, edge - SWISS_GRAIN * quiet, SWISS_GRAIN)
    reach = _CROSS * modules  # half of the cross, in parts
    parts = 2 * reach / _CROSS_SIDE
    return Symbol(
        side,
        side,
        dark,
        overlays=tuple(_place(layer, side / 2 - reach, parts) for layer in _CROSS_LAYERS),
        subdivisions=SWISS_GRAIN,
        side=mm(SWISS_SIDE + (2 * SWISS_QUIET if node.has_quiet_zone else 0)),
    )


def _place(
    rectangles: Iterable[tuple[float, float, float, float]], start: float, parts: float
) -> tuple[ModuleRectangle, ...]:
    """Return rectangles in parts of their unit, moved right and down from `start`."""
    return tuple(
        (
            round(start + x * parts),
            round(start + y * parts),
            round(width * parts),
            round(height * parts),
        )
        for x, y, width, height in rectangles
    )


def _too_long(node: BarcodeSpec) -> InvalidValueError:
    size = len(str(node.value).encode("utf-8", "replace"))
    return InvalidValueError(
        f'The value of {size:,} bytes does not fit a QR code of level "{node.level or "M"}"; '
        "shorten it, or use a lower level"
    )


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


_NARROWER: Final = mm(0.002)  # than the least module, by rounding


def record_code(
    canvas: PageCanvas,
    node: Barcode,
    area: Rectangle,
    module: float,
    first: int,
    *,
    is_linear: bool,
) -> None:
    """Check a bar code on its page: `area` is its symbol, `module` the width of its narrowest bar, in
    points, and `first` the first of its items.

    The quiet zone of a linear code is beside it, that of others around it.
    """
    if node.dpi is None and not canvas.checks_codes:
        return
    kind = SYMBOLOGIES[node.symbology]
    if module < mm(kind.least) - _NARROWER and not kind.has_fixed_size:
        what = (
            f'A module of the bar code of type "{node.symbology}" is '
            f"{module / POINTS_PER_MM:.3g} mm wide; readers ask for {kind.least:g} mm at least"
        )
        advice = "Give the code more room, or a shorter value."
        canvas.report(_warn(node, "barcode-module", what, advice))
    quiet = kind.quiet * module
    outside = 0.0 if node.has_quiet_zone else quiet
    above = 0.0 if is_linear else outside
    zone = Rectangle(
        area.x - outside, area.y - above, area.width + 2 * outside, area.height + 2 * above
    )
    what = f'The quiet zone of the bar code of type "{node.symbology}" has ink'
    problem = _warn(
        node, "barcode-quiet-zone", what, f"Keep {format_mm(quiet)} around the code free."
    )
    canvas.zones.append(
        FreeZone(zone, lambda _: problem, first, len(canvas.items), has_ground=True)
    )


def _warn(node: Barcode, code: str, what: str, advice: str) -> LayoutProblem:
    return LayoutProblem(code, what, advice, (node.source,), severity=Severity.WARNING)
