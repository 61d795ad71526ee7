"""Bar codes: from a checked value to a symbol of dark rectangles, or to the reason it has none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import zxingcpp

from workers.engine.diagnostics import Findings
from workers.engine.layout.elements import swiss
from workers.engine.layout.elements.gs1 import WrongValue
from workers.engine.layout.elements.hexagons import lay_hexagons
from workers.engine.layout.elements.linear import (
    CODE_TYPES,
    CodeType,
    Encodable,
    Shape,
    as_lines,
    read_add_on,
    read_escapes,
)
from workers.engine.layout.elements.payments import WrongPaymentError, write_sepa_payment
from workers.engine.layout.elements.symbols import Rectangle, Symbol
from workers.engine.layout.problems import Problem
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.syntax.vocabulary.blocks import BARCODE_TYPES
from workers.engine.syntax.vocabulary.specs import AttributeSpec
from workers.engine.tree.nodes import Barcode
from workers.engine.units import mm

CODE: Final = "barcode-value"
LEVELS: Final = ("L", "M", "Q", "H")
MICRO_LEVELS: Final = ("L", "M", "Q")
# Levels of error correction: of PDF417 by number of codewords, of Aztec 10, 23, 36 and 50 %.
CORRECTIONS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {"pdf417": (0, 8), "aztec": (1, 4)}
)
QUIET_MODULES: Final = 4  # ISO/IEC 18004, 9.1
MAX_QR_BYTES: Final = 2953  # version 40, level L, byte mode


@dataclass(frozen=True, slots=True)
class Code:
    """A bar code as it is written, before anything is known of its box."""

    symbology: str
    value: str | Mapping[str, Any]
    level: str = "M"
    has_quiet_zone: bool = True
    columns: int | None = None
    correction: int | None = None
    add_on: str = ""
    has_escapes: bool = False


def encode_barcode(node: Barcode | Code) -> Symbol | Problem:
    """Encode the value of a bar code as its type demands; a wrong value is a problem, never a code."""
    symbol = _encode(node)
    if isinstance(symbol, Problem):
        return replace(symbol, text=escape_controls(symbol.text))
    return symbol


def escape_controls(text: str) -> str:
    """Return a message whose characters can all be seen: others as U+000A."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else f"U+{ord(char):04X}" for char in text)


def _encode(node: Barcode | Code) -> Symbol | Problem:
    if node.has_escapes and isinstance(node.value, str):
        try:
            node = replace(node, value=read_escapes(node.value), has_escapes=False)
        except WrongValue as wrong:
            return Problem(CODE, f"The value of the bar code cannot be read: {wrong}")
    kind = CODE_TYPES.get(node.symbology)
    taken = kind.options if kind else frozenset[str]()
    for name, value in _options(node).items():
        if value and name not in taken:
            return _wrong_option(node, name)
    if kind is not None:
        return _encode_typed(node, kind)
    if node.symbology == "qr":
        return _encode_qr(node)
    if node.symbology in _PAYMENTS:
        return _encode_payment(node)
    known = ", ".join(BARCODE_TYPES)
    return Problem(
        "barcode-type", f'Bar code type "{node.symbology}" is not known; use one of {known}'
    )


def _options(node: Barcode | Code) -> dict[str, object]:
    # A correction of 0 is a level too.
    correction = None if node.correction is None else str(node.correction)
    return {"columns": node.columns, "correction": correction, "add-on": node.add_on}


def _wrong_option(node: Barcode | Code, name: str) -> Problem:
    takers = ", ".join(other for other, kind in CODE_TYPES.items() if name in kind.options)
    return Problem(
        CODE,
        f'"{name}" is not accepted for a bar code of type "{node.symbology}"; it is for {takers}',
    )


def judge_codes(root: Element, findings: Findings) -> None:
    """Report the bar codes of a document whose value depends on no data and is wrong."""
    attributes = ELEMENTS["barcode"].attributes
    for element in root.walk():
        given = element.attributes
        if element.tag != "barcode" or any("{{" in text for text in given.values()):
            continue
        symbology, level = given.get("type", ""), given.get("level", "M")
        is_known = symbology in attributes["type"].kind.choices and level in LEVELS
        if not is_known or "value" not in given:
            continue  # told by the checks of the text
        columns, correction = (
            _read_static(attributes[name], given.get(name)) for name in ("columns", "correction")
        )
        problem = encode_barcode(
            Code(
                symbology,
                given["value"],
                level,
                columns=columns,
                correction=correction,
                add_on=given.get("add-on", ""),
                has_escapes=given.get("escapes") == "true",
            )
        )
        if isinstance(problem, Problem):
            findings.error(problem.code, problem.text, element.place)


def _read_static(attribute: AttributeSpec, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(attribute.kind.read(text))
    except ValueError:
        return None  # told by the checks of the text


def _encode_typed(node: Barcode | Code, kind: CodeType) -> Symbol | Problem:
    value = node.value
    if not isinstance(value, str):
        return Problem(CODE, f'A bar code of type "{node.symbology}" takes a text, not an object')
    if not value:
        return Problem(CODE, "The value of the bar code is empty")
    try:
        encodable = _with_add_on(kind.read(value), node.add_on)
        options = _writer_options(node, kind, encodable)
    except WrongValue as wrong:
        return Problem(
            CODE, f'The value does not suit a bar code of type "{node.symbology}": {wrong}'
        )
    content = encodable.content
    # As text the writer takes no U+0080 to U+009F.
    is_bytes = kind.format is zxingcpp.BarcodeFormat.Code128 and not kind.is_gs1
    written = content.encode("latin-1") if is_bytes else content
    try:
        code = zxingcpp.create_barcode(written, kind.format, **options)
    except (ValueError, UnicodeError):
        return _does_not_fit(node)
    if kind.shape is Shape.HEXAGONS:
        return lay_hexagons(code, encodable.shown, has_quiet_zone=node.has_quiet_zone)
    image: Any = code.to_image(scale=1, add_quiet_zones=False)
    symbol = _lay_modules(memoryview(image), node, kind, encodable)
    if node.columns and not _has_columns(symbol, node, kind):
        return _does_not_fit(node)
    return symbol


def _with_add_on(encodable: Encodable, add_on: str) -> Encodable:
    if not add_on:
        return encodable
    digits = read_add_on(add_on)
    return Encodable(f"{encodable.content}+{digits}", f"{encodable.shown}  {digits}")


def _writer_options(node: Barcode | Code, kind: CodeType, encodable: Encodable) -> dict[str, Any]:
    options: dict[str, Any] = {"gs1": True} if kind.is_gs1 else {}
    if kind.format is zxingcpp.BarcodeFormat.DataMatrix:
        options["force_square"] = True
    if not encodable.content.isascii() and not kind.is_latin:
        options["eci"] = "UTF-8"
    if "level" in kind.options:
        options["ec_level"] = _check_level(node)
    if node.correction is not None:
        options["ec_level"] = _check_correction(node)
    if node.columns:
        options["columns"] = _check_columns(node.columns, _COLUMN_MODULES[node.symbology].most)
    return options


def _check_level(node: Barcode | Code) -> str:
    level = node.level or "M"
    if level not in MICRO_LEVELS:
        raise WrongValue(f"level {level} is none of its levels {', '.join(MICRO_LEVELS)}")
    return level


def _check_correction(node: Barcode | Code) -> str:
    low, high = CORRECTIONS[node.symbology]
    assert node.correction is not None
    if not low <= node.correction <= high:
        raise WrongValue(f"its correction is {node.correction}; it takes {low} to {high}")
    return str(node.correction)


def _check_columns(columns: int, most: int) -> int:
    if columns > most:
        raise WrongValue(f"its columns are {columns}; it takes 1 to {most}")
    return columns


def _has_columns(symbol: Symbol, node: Barcode | Code, kind: CodeType) -> bool:
    """Return whether the writer kept to the columns; it takes more where all does not fit."""
    modules = symbol.columns - 2 * (kind.quiet if node.has_quiet_zone else 0)
    sizes = _COLUMN_MODULES[node.symbology]
    assert node.columns is not None
    return modules <= sizes.each * node.columns + sizes.beside


class _Columns(NamedTuple):
    """Modules of each column, and those beside the columns; how many columns there are at most."""

    each: int
    beside: int
    most: int


_COLUMN_MODULES: Final[Mapping[str, _Columns]] = MappingProxyType(
    {"pdf417": _Columns(17, 69, 30), "gs1-databar-expanded-stacked": _Columns(49, 4, 10)}
)


def _does_not_fit(node: Barcode | Code) -> Problem:
    advice = "shorten it"
    if node.columns:
        advice += f", or use more columns than {node.columns}"
    if node.correction is not None:
        advice += ", or a lower correction"
    return Problem(CODE, f'The value does not fit a bar code of type "{node.symbology}"; {advice}')


def _lay_modules(
    image: memoryview, node: Barcode | Code, kind: CodeType, encodable: Encodable
) -> Symbol:
    quiet = kind.quiet if node.has_quiet_zone else 0
    if kind.shape is Shape.MATRIX:
        return replace(_symbol(image, quiet=quiet), text=encodable.shown)
    assert image.shape is not None
    rows, columns = image.shape
    pixels = image.tobytes()
    if kind.shape is Shape.STACK:
        # Rows of bars have a quiet zone at their sides; above and below only PDF417 has one.
        above = quiet if kind.format is zxingcpp.BarcodeFormat.PDF417 else 0
        return Symbol(
            columns + 2 * quiet,
            rows + 2 * above,
            tuple(_stack_rows(pixels, columns, quiet, above)),
            text=encodable.shown,
            is_stack=True,
        )
    # Guard bars are longer than others, an add-on begins lower: all are crossed in the middle.
    middle = rows // 2 * columns
    bars = _DARK.finditer(pixels[middle : middle + columns])
    return Symbol(
        columns + 2 * quiet,
        kind.height,
        tuple((bar.start() + quiet, 0, bar.end() - bar.start(), kind.height) for bar in bars),
        is_bars=True,
        text=encodable.shown,
    )


def _stack_rows(pixels: bytes, columns: int, left: int, above: int) -> Iterator[Rectangle]:
    """Yield the bars of rows of bars, each as high as its equal lines."""
    lines = [pixels[start : start + columns] for start in range(0, len(pixels), columns)]
    y = above
    for line, equal in groupby(lines):
        height = len(list(equal))
        for bar in _DARK.finditer(line):
            yield bar.start() + left, y, bar.end() - bar.start(), height
        y += height


def _encode_qr(node: Barcode | Code) -> Symbol | Problem:
    if not isinstance(node.value, str):
        return Problem(CODE, 'A bar code of type "qr" takes a text, not an object')
    if not node.value:
        return Problem(CODE, "The value of the bar code is empty")
    if len(node.value.encode("utf-8", "replace")) > MAX_QR_BYTES:
        return _too_long(node)
    return _with_text(_draw(node.value, node), as_lines(node.value))


def _with_text(symbol: Symbol | Problem, text: str) -> Symbol | Problem:
    return symbol if isinstance(symbol, Problem) else replace(symbol, text=text)


def _encode_payment(node: Barcode | Code) -> Symbol | Problem:
    symbology = node.symbology
    write, needed = _PAYMENTS[symbology]
    if not isinstance(node.value, Mapping):
        return Problem(
            CODE, f'A bar code of type "{symbology}" takes an object with {needed}, not a text'
        )
    if node.level not in ("", "M"):
        return Problem(CODE, f'"{symbology}" is always of level M, not "{node.level}"')
    try:
        content = write(node.value)
    except WrongPaymentError as wrong:
        return Problem(CODE, str(wrong))
    symbol = _draw(content, node)
    if symbology == "swiss-qr" and isinstance(symbol, Symbol):
        return _as_swiss(symbol, node)
    return symbol


def _as_swiss(symbol: Symbol, node: Barcode | Code) -> Symbol:
    """Put the Swiss cross into a code, and make its size and quiet zone those of the guideline."""
    quiet = QUIET_MODULES if node.has_quiet_zone else 0
    modules = symbol.columns - 2 * quiet
    bare = ((x - quiet, y - quiet, width, height) for x, y, width, height in symbol.rectangles)
    edge = 2 * modules * swiss.QUIET if node.has_quiet_zone else 0
    side = swiss.GRAIN * modules + 2 * edge
    return Symbol(
        side,
        side,
        tuple(
            (x + edge, y + edge, width, height)
            for x, y, width, height in swiss.place_cross(bare, modules)
        ),
        grain=swiss.GRAIN,
        side=mm(swiss.SIDE + (2 * swiss.QUIET if node.has_quiet_zone else 0)),
    )


_PAYMENTS: Final[Mapping[str, tuple[Callable[[Mapping[str, Any]], bytes], str]]] = MappingProxyType(
    {
        "epc-qr": (write_sepa_payment, "name, iban and amount"),
        "swiss-qr": (swiss.write_swiss_payment, "iban, creditor, amount and reference"),
    }
)


def _draw(content: str | bytes, node: Barcode | Code) -> Symbol | Problem:
    level = node.level or "M"
    if level not in LEVELS:
        return Problem(CODE, f'Level "{level}" is not known; use one of {", ".join(LEVELS)}')
    # Readers take bytes without a declared character set as Latin-1 or UTF-8, as they like.
    options = {} if isinstance(content, bytes) or content.isascii() else {"eci": "UTF-8"}
    try:
        code = zxingcpp.create_barcode(
            content, zxingcpp.BarcodeFormat.QRCode, ec_level=level, **options
        )
    except (ValueError, UnicodeError):
        return _too_long(node)
    image: Any = code.to_image(scale=1, add_quiet_zones=False)
    return _symbol(memoryview(image), quiet=QUIET_MODULES if node.has_quiet_zone else 0)


def _too_long(node: Barcode | Code) -> Problem:
    size = len(str(node.value).encode("utf-8", "replace"))
    return Problem(
        CODE,
        f'The value of {size:,} bytes does not fit a QR code of level "{node.level or "M"}"; '
        "shorten it, or use a lower level",
    )


def _symbol(image: memoryview, *, quiet: int) -> Symbol:
    shape = image.shape
    assert shape is not None
    rows, columns = shape
    return Symbol(
        columns + 2 * quiet,
        rows + 2 * quiet,
        tuple(_find_runs(image.tobytes(), columns, quiet)),
    )


def _find_runs(pixels: bytes, columns: int, quiet: int) -> Iterator[Rectangle]:
    """Give the dark runs of each row. To merge equal runs below each other costs more than it saves."""
    for y, start in enumerate(range(0, len(pixels), columns)):
        for left, right in map(_SPAN, _DARK.finditer(pixels, start, start + columns)):
            yield left - start + quiet, y + quiet, right - left, 1


_DARK: Final = re.compile(rb"\x00+")
_SPAN: Final = re.Match.span
