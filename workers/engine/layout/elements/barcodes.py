"""Bar codes: from a checked value to a symbol of dark rectangles, or to the reason it has none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import zxingcpp

from workers.engine.diagnostics import Findings
from workers.engine.layout.elements import swiss
from workers.engine.layout.elements.gs1 import WrongValue
from workers.engine.layout.elements.linear import CODE_TYPES, CodeType, Encodable
from workers.engine.layout.elements.payments import WrongPaymentError, write_sepa_payment
from workers.engine.layout.problems import Problem
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.nodes import Barcode
from workers.engine.units import mm

CODE: Final = "barcode-value"
LEVELS: Final = ("L", "M", "Q", "H")
QUIET_MODULES: Final = 4  # ISO/IEC 18004, 9.1
MAX_QR_BYTES: Final = 2953  # version 40, level L, byte mode

Rectangle = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A bar code in modules, quiet zone included: its size, and its dark parts as (x, y, w, h).

    Bars may be drawn of any height. `text` is what people read below, empty where there is none.
    With a `grain` all is counted in that part of a module. `side` is the one size in points that a
    standard allows, 0 where it leaves that open.
    """

    columns: int
    rows: int
    rectangles: tuple[Rectangle, ...]
    is_bars: bool = False
    text: str = ""
    grain: int = 1
    side: float = 0.0


@dataclass(frozen=True, slots=True)
class Code:
    """A bar code as it is written, before anything is known of its box."""

    symbology: str
    value: str | Mapping[str, Any]
    level: str = "M"
    has_quiet_zone: bool = True


def encode_barcode(node: Barcode | Code) -> Symbol | Problem:
    """Encode the value of a bar code as its type demands; a wrong value is a problem, never a code."""
    if node.symbology == "qr":
        return _encode_qr(node)
    if node.symbology in _PAYMENTS:
        return _encode_payment(node)
    kind = CODE_TYPES.get(node.symbology)
    if kind is None:
        known = ", ".join(("qr", *_PAYMENTS, *CODE_TYPES))
        return Problem(
            "barcode-type", f'Bar code type "{node.symbology}" is not known; use one of {known}'
        )
    return _encode_typed(node, kind)


def judge_codes(root: Element, findings: Findings) -> None:
    """Tell the bar codes of a document whose value depends on no data and is wrong."""
    attributes = ELEMENTS["barcode"].attributes
    for element in root.walk():
        given = element.attributes
        if element.tag != "barcode" or any("{{" in text for text in given.values()):
            continue
        symbology, level = given.get("type", ""), given.get("level", "M")
        is_known = symbology in attributes["type"].kind.choices and level in LEVELS
        if not is_known or "value" not in given:
            continue  # told by the checks of the text
        problem = encode_barcode(Code(symbology, given["value"], level))
        if isinstance(problem, Problem):
            findings.error(problem.code, problem.text, element.place)


def _encode_typed(node: Barcode | Code, kind: CodeType) -> Symbol | Problem:
    value = node.value
    if not isinstance(value, str):
        return Problem(CODE, f'A bar code of type "{node.symbology}" takes a text, not an object')
    if not value:
        return Problem(CODE, "The value of the bar code is empty")
    try:
        encodable = kind.read(value)
    except WrongValue as wrong:
        return Problem(
            CODE, f'The value does not suit a bar code of type "{node.symbology}": {wrong}'
        )
    options: dict[str, Any] = {"gs1": True} if kind.is_gs1 else {}
    if not kind.height:
        options["force_square"] = True
    if not encodable.content.isascii():
        options["eci"] = "UTF-8"
    try:
        code = zxingcpp.create_barcode(encodable.content, kind.format, **options)
    except (ValueError, UnicodeError):
        return Problem(
            CODE, f'The value does not fit a bar code of type "{node.symbology}"; shorten it'
        )
    image: Any = code.to_image(scale=1, add_quiet_zones=False)
    return _lay_modules(memoryview(image), node, kind, encodable)


def _lay_modules(
    image: memoryview, node: Barcode | Code, kind: CodeType, encodable: Encodable
) -> Symbol:
    quiet = kind.quiet if node.has_quiet_zone else 0
    if not kind.height:
        return replace(_symbol(image, quiet=quiet), text=encodable.shown)
    assert image.shape is not None
    columns = image.shape[1]
    bars = _DARK.finditer(image.tobytes()[:columns])  # all rows of it are alike
    return Symbol(
        columns + 2 * quiet,
        kind.height,
        tuple((bar.start() + quiet, 0, bar.end() - bar.start(), kind.height) for bar in bars),
        is_bars=True,
        text=encodable.shown,
    )


def _encode_qr(node: Barcode | Code) -> Symbol | Problem:
    if not isinstance(node.value, str):
        return Problem(CODE, 'A bar code of type "qr" takes a text, not an object')
    if not node.value:
        return Problem(CODE, "The value of the bar code is empty")
    if len(node.value.encode("utf-8", "replace")) > MAX_QR_BYTES:
        return _too_long(node)
    return _with_text(_draw(node.value, node), node.value)


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
