"""Encoding of bar codes: a symbol of dark rectangles, or the problem why there is none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

import zxingcpp

from workers.engine.barcodes import (
    QR_LEVELS,
    SYMBOLOGIES,
    BarcodeSpec,
    BarcodeValue,
    InvalidPaymentError,
    InvalidValueError,
    PaymentFormat,
    Symbology,
    SymbolShape,
    as_lines,
    read_add_on,
    read_escapes,
)
from workers.engine.diagnostics import Findings
from workers.engine.layout.context import ContentProblem
from workers.engine.layout.elements.barcodes.symbols import (
    SWISS_GRAIN,
    SWISS_QUIET,
    SWISS_SIDE,
    ModuleRectangle,
    Symbol,
    draw_states,
    make_maxicode,
    place_swiss_cross,
)
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.syntax.vocabulary.specs import AttributeSpec
from workers.engine.units import mm

CODE: Final = "barcode-value"
MAX_QR_BYTES: Final = 2953  # version 40, level L, byte mode


def encode_barcode(node: BarcodeSpec) -> Symbol | ContentProblem:
    """Encode the value of a bar code by its symbology; an invalid value is a problem, never a symbol."""
    symbol = _encode(node)
    if isinstance(symbol, ContentProblem):
        return replace(symbol, text=escape_controls(symbol.text))
    return symbol


def escape_controls(text: str) -> str:
    """Return a message with its control characters written as U+000A."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else f"U+{ord(char):04X}" for char in text)


def _encode(node: BarcodeSpec) -> Symbol | ContentProblem:
    if node.has_escapes and isinstance(node.value, str):
        try:
            node = replace(node, value=read_escapes(node.value), has_escapes=False)
        except InvalidValueError as wrong:
            return ContentProblem(CODE, f"The value of the bar code cannot be read: {wrong}")
    kind = SYMBOLOGIES.get(node.symbology)
    for name, value in _options(node).items():
        if value and (kind is None or not kind.accepts(name)):
            return _describe_wrong_option(node, name)
    if kind is None:
        known = ", ".join(SYMBOLOGIES)
        return ContentProblem(
            "barcode-type", f'Bar code type "{node.symbology}" is not known; use one of {known}'
        )
    if kind.payment is not None:
        return _encode_payment(node, kind, kind.payment)
    return _encode_qr(node, kind) if kind.format == "QRCode" else _encode_typed(node, kind)


def _options(node: BarcodeSpec) -> dict[str, object]:
    # 0 is a valid level of correction.
    correction = None if node.correction is None else str(node.correction)
    return {
        "columns": node.columns,
        "correction": correction,
        "add-on": node.add_on,
        "dpi": node.dpi,
    }


def _describe_wrong_option(node: BarcodeSpec, name: str) -> ContentProblem:
    takers = ", ".join(other for other, kind in SYMBOLOGIES.items() if kind.accepts(name))
    return ContentProblem(
        CODE,
        f'"{name}" is not accepted for a bar code of type "{node.symbology}"; it is for {takers}',
    )


def check_barcodes(root: Element, findings: Findings) -> None:
    """Report the bar codes of a template whose value is static and invalid."""
    attributes = ELEMENTS["barcode"].attributes
    for element in root.walk():
        given = element.attributes
        if element.tag != "barcode" or any("{{" in text for text in given.values()):
            continue
        symbology, level = given.get("type", ""), given.get("level", "M")
        is_known = symbology in SYMBOLOGIES and level in QR_LEVELS
        if not is_known or "value" not in given:
            continue  # reported by the checks of the syntax
        columns, correction = (
            _read_static(attributes[name], given.get(name)) for name in ("columns", "correction")
        )
        problem = encode_barcode(
            BarcodeSpec(
                symbology,
                given["value"],
                level,
                columns=columns,
                correction=correction,
                add_on=given.get("add-on", ""),
                has_escapes=given.get("escapes") == "true",
            )
        )
        if isinstance(problem, ContentProblem):
            findings.error(problem.code, problem.text, element.location)


def _read_static(attribute: AttributeSpec, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(attribute.value_type.read(text))
    except ValueError:
        return None  # reported by the checks of the syntax


def _encode_typed(node: BarcodeSpec, kind: Symbology) -> Symbol | ContentProblem:
    value = node.value
    if not isinstance(value, str):
        return ContentProblem(
            CODE, f'A bar code of type "{node.symbology}" takes a text, not an object'
        )
    if not value:
        return ContentProblem(CODE, "The value of the bar code is empty")
    try:
        encodable = _with_add_on(kind.read(value), node.add_on)
        options = _writer_options(node, kind, encodable)
    except InvalidValueError as wrong:
        return ContentProblem(
            CODE, f'The value does not suit a bar code of type "{node.symbology}": {wrong}'
        )
    if kind.bars is not None:
        return draw_states(encodable, kind.bars, has_quiet_zone=node.has_quiet_zone)
    content = encodable.content
    # As text the encoder does not accept U+0080 to U+009F.
    is_bytes = kind.format == "Code128" and not kind.is_gs1
    written = content.encode("latin-1") if is_bytes else content
    try:
        code = zxingcpp.create_barcode(written, _format_of(kind), **options)
    except (ValueError, UnicodeError):
        return _describe_does_not_fit(node)
    if kind.shape is SymbolShape.HEXAGONS:
        return make_maxicode(code, encodable.text, has_quiet_zone=node.has_quiet_zone)
    image: Any = code.to_image(scale=1, add_quiet_zones=False)
    symbol = _make_symbol(memoryview(image), node, kind, encodable)
    if node.columns and not _has_columns(symbol, node, kind):
        return _describe_does_not_fit(node)
    return symbol


def _with_add_on(encodable: BarcodeValue, add_on: str) -> BarcodeValue:
    if not add_on:
        return encodable
    digits = read_add_on(add_on)
    return BarcodeValue(f"{encodable.content}+{digits}", f"{encodable.text}  {digits}")


def _writer_options(node: BarcodeSpec, kind: Symbology, encodable: BarcodeValue) -> dict[str, Any]:
    options: dict[str, Any] = {"gs1": True} if kind.is_gs1 else {}
    if kind.format == "DataMatrix":
        options["force_square"] = True
    if not encodable.content.isascii() and not kind.is_latin:
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


def _describe_does_not_fit(node: BarcodeSpec) -> ContentProblem:
    advice = "shorten it"
    if node.columns:
        advice += f", or use more columns than {node.columns}"
    if node.correction is not None:
        advice += ", or a lower correction"
    return ContentProblem(
        CODE, f'The value does not fit a bar code of type "{node.symbology}"; {advice}'
    )


def _make_symbol(
    image: memoryview, node: BarcodeSpec, kind: Symbology, encodable: BarcodeValue
) -> Symbol:
    quiet = kind.quiet if node.has_quiet_zone else 0
    if kind.shape is SymbolShape.MATRIX:
        return replace(_symbol(image, quiet=quiet), text=encodable.text)
    assert image.shape is not None
    rows, columns = image.shape
    pixels = image.tobytes()
    if kind.shape is SymbolShape.STACK:
        # Stacked symbols have a quiet zone at their sides; of these only PDF417 has one above and
        # below.
        above = quiet if kind.format == "PDF417" else 0
        return Symbol(
            columns + 2 * quiet,
            rows + 2 * above,
            tuple(_stack_rows(pixels, columns, quiet, above)),
            text=encodable.text,
            is_stack=True,
        )
    # Guard bars are longer than others, and an add-on starts lower: the middle row crosses them
    # all.
    middle = rows // 2 * columns
    bars = _DARK.finditer(pixels[middle : middle + columns])
    return Symbol(
        columns + 2 * quiet,
        kind.height,
        tuple((bar.start() + quiet, 0, bar.end() - bar.start(), kind.height) for bar in bars),
        is_bars=True,
        text=encodable.text,
    )


def _stack_rows(pixels: bytes, columns: int, left: int, above: int) -> Iterator[ModuleRectangle]:
    """Yield the bars of stacked rows, each as high as its equal pixel rows."""
    lines = [pixels[start : start + columns] for start in range(0, len(pixels), columns)]
    y = above
    for line, equal in groupby(lines):
        height = len(list(equal))
        for bar in _DARK.finditer(line):
            yield bar.start() + left, y, bar.end() - bar.start(), height
        y += height


def _encode_qr(node: BarcodeSpec, kind: Symbology) -> Symbol | ContentProblem:
    if not isinstance(node.value, str):
        return ContentProblem(CODE, 'A bar code of type "qr" takes a text, not an object')
    if not node.value:
        return ContentProblem(CODE, "The value of the bar code is empty")
    if len(node.value.encode("utf-8", "replace")) > MAX_QR_BYTES:
        return _describe_too_long(node)
    return _with_text(_encode_qr_content(node.value, node, kind), as_lines(node.value))


def _with_text(symbol: Symbol | ContentProblem, text: str) -> Symbol | ContentProblem:
    return symbol if isinstance(symbol, ContentProblem) else replace(symbol, text=text)


def _encode_payment(
    node: BarcodeSpec, kind: Symbology, payment: PaymentFormat
) -> Symbol | ContentProblem:
    symbology = node.symbology
    if not isinstance(node.value, Mapping):
        return ContentProblem(
            CODE,
            f'A bar code of type "{symbology}" takes an object with {payment.members}, not a text',
        )
    if node.level not in ("", "M"):
        return ContentProblem(CODE, f'"{symbology}" is always of level M, not "{node.level}"')
    try:
        content = payment.write(node.value)
    except InvalidPaymentError as wrong:
        return ContentProblem(CODE, str(wrong))
    symbol = _encode_qr_content(content, node, kind)
    if symbology == "swiss-qr" and isinstance(symbol, Symbol):
        return _add_swiss_cross(symbol, node, kind.quiet)
    if payment.sides is not None and isinstance(symbol, Symbol):
        quiet = 2 * kind.quiet if node.has_quiet_zone else 0
        scale = symbol.columns / (symbol.columns - quiet)
        least, most = (mm(side) * scale for side in payment.sides)
        return replace(symbol, side=(least + most) / 2, spare=(most - least) / 2)
    return symbol


def _add_swiss_cross(symbol: Symbol, node: BarcodeSpec, quiet_modules: int) -> Symbol:
    """Draw the Swiss cross into a QR code and apply the size and quiet zone of the guideline."""
    quiet = quiet_modules if node.has_quiet_zone else 0
    modules = symbol.columns - 2 * quiet
    edge = 2 * modules * SWISS_QUIET if node.has_quiet_zone else 0
    side = SWISS_GRAIN * modules + 2 * edge
    placed = place_swiss_cross(symbol.rectangles, modules, quiet=quiet, edge=edge)
    return Symbol(
        side,
        side,
        tuple(placed),
        subdivisions=SWISS_GRAIN,
        side=mm(SWISS_SIDE + (2 * SWISS_QUIET if node.has_quiet_zone else 0)),
    )


def _encode_qr_content(
    content: str | bytes, node: BarcodeSpec, kind: Symbology
) -> Symbol | ContentProblem:
    level = node.level or "M"
    if level not in kind.levels:
        return ContentProblem(
            CODE, f'Level "{level}" is not known; use one of {", ".join(kind.levels)}'
        )
    options: dict[str, Any] = {}
    if kind.payment is not None and kind.payment.version is not None:
        options["version"] = kind.payment.version
    if kind.payment is not None and kind.payment.charset is not None:
        options["eci"] = kind.payment.charset
    # Readers interpret bytes without a declared character set as Latin-1 or as UTF-8.
    elif isinstance(content, str) and not content.isascii():
        options["eci"] = "UTF-8"
    try:
        code = zxingcpp.create_barcode(content, _format_of(kind), ec_level=level, **options)
    except (ValueError, UnicodeError):
        return _describe_too_long(node)
    image: Any = code.to_image(scale=1, add_quiet_zones=False)
    return _symbol(memoryview(image), quiet=kind.quiet if node.has_quiet_zone else 0)


def _describe_too_long(node: BarcodeSpec) -> ContentProblem:
    size = len(str(node.value).encode("utf-8", "replace"))
    return ContentProblem(
        CODE,
        f'The value of {size:,} bytes does not fit a QR code of level "{node.level or "M"}"; '
        "shorten it, or use a lower level",
    )


def _symbol(image: memoryview, *, quiet: int) -> Symbol:
    shape = image.shape
    assert shape is not None
    rows, columns = shape
    return Symbol(
        columns + 2 * quiet, rows + 2 * quiet, tuple(_find_runs(image.tobytes(), columns, quiet))
    )


def _find_runs(pixels: bytes, columns: int, quiet: int) -> list[ModuleRectangle]:
    """Return the dark runs of each row. Merging equal runs of adjacent rows costs more than it saves."""
    runs: list[ModuleRectangle] = []
    for y, start in enumerate(range(0, len(pixels), columns), quiet):
        x = quiet
        # Half the time of a regular expression: most runs are one or two modules long.
        for run in pixels[start : start + columns].split(_LIGHT):
            width = len(run)
            if width:
                runs.append((x, y, width, 1))
            x += width + 1
    return runs


_DARK: Final = re.compile(rb"\x00+")
_LIGHT: Final = b"\xff"


def _format_of(kind: Symbology) -> zxingcpp.BarcodeFormat:
    return zxingcpp.BarcodeFormat[kind.format]
