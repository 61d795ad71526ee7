"""Bar codes: from a checked value to a symbol of dark rectangles, or to the reason it has none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import zxingcpp

from workers.engine.diagnostics import Findings
from workers.engine.layout.elements.gs1 import WrongValue
from workers.engine.layout.elements.linear import CODE_TYPES, CodeType, Encodable
from workers.engine.layout.problems import Problem
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.nodes import Barcode

CODE: Final = "barcode-value"
LEVELS: Final = ("L", "M", "Q", "H")
QUIET_MODULES: Final = 4  # ISO/IEC 18004, 9.1
MAX_QR_BYTES: Final = 2953  # version 40, level L, byte mode

Rectangle = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A bar code in modules, quiet zone included: its size, and its dark parts as (x, y, w, h).

    Bars may be drawn of any height. `text` is what people read below, empty where there is none.
    """

    columns: int
    rows: int
    rectangles: tuple[Rectangle, ...]
    is_bars: bool = False
    text: str = ""


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
    if node.symbology == "epc-qr":
        return _encode_epc(node)
    kind = CODE_TYPES.get(node.symbology)
    if kind is None:
        known = ", ".join(("qr", "epc-qr", *CODE_TYPES))
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


def _encode_epc(node: Barcode | Code) -> Symbol | Problem:
    if not isinstance(node.value, Mapping):
        return Problem(
            CODE,
            'A bar code of type "epc-qr" takes an object with name, iban and amount, not a text',
        )
    if node.level not in ("", "M"):
        return Problem(CODE, f'"epc-qr" is always of level M, not "{node.level}"')
    try:
        content = write_payment(node.value)
    except _Wrong as wrong:
        return Problem(CODE, str(wrong))
    return _draw(content, node)


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


# --- SEPA credit transfer (EPC069-12, version 2.1) -------------------------------------------------


MAX_PAYMENT_BYTES: Final = 331
MAX_AMOUNT: Final = Decimal("999999999.99")
_MEMBERS: Final = (
    "name",
    "iban",
    "bic",
    "amount",
    "currency",
    "purpose",
    "reference",
    "text",
    "information",
)
_IBAN: Final = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_BIC: Final = re.compile(r"[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?")
_PURPOSE: Final = re.compile(r"[A-Z0-9]{1,4}")
_CREDITOR_REFERENCE: Final = re.compile(r"RF[0-9]{2}[A-Z0-9]{1,21}")


class _Wrong(Exception):
    """A member of the payment is missing or wrong; the text says which and why."""


def write_payment(payment: Mapping[str, Any]) -> bytes:
    """Write the content of a payment code from name, iban, amount and the optional members.

    Its 331 bytes fit version 13 at level M, the largest the guideline allows.
    """
    for member in payment:
        if member not in _MEMBERS:
            raise _Wrong(f'"epc-qr" has no member "{member}"; it takes {", ".join(_MEMBERS)}')
    reference, text = _creditor_reference(payment), _text(payment, "text", 140)
    if reference and text:
        raise _Wrong('"epc-qr" takes either "reference" or "text", not both')
    lines = [
        *("BCD", "002", "1", "SCT"),
        _matching(payment, "bic", _BIC, "a BIC of 8 or 11 letters and digits"),
        _text(payment, "name", 70, is_required=True),
        _iban(payment),
        _amount(payment),
        _matching(payment, "purpose", _PURPOSE, "1 to 4 capital letters or digits"),
        reference,
        text,
        _text(payment, "information", 70),
    ]
    content = "\n".join(lines).rstrip("\n").encode()
    if len(content) > MAX_PAYMENT_BYTES:
        raise _Wrong(
            f'"epc-qr" holds {MAX_PAYMENT_BYTES} bytes, these values need {len(content)}; shorten "text"'
        )
    return content


def _text(payment: Mapping[str, Any], member: str, limit: int, *, is_required: bool = False) -> str:
    value = payment.get(member)
    if value is None or value == "":
        if is_required:
            raise _Wrong(f'"epc-qr" needs the member "{member}"')
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise _Wrong(f'"{member}" of "epc-qr" must be a text')
    text = " ".join(str(value).split())
    if len(text) > limit:
        raise _Wrong(
            f'"{member}" of "epc-qr" has {len(text)} characters, at most {limit} are allowed'
        )
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise _Wrong(f'"{member}" of "epc-qr" holds half a character (a lone surrogate)')
    return text


def _matching(
    payment: Mapping[str, Any], member: str, pattern: re.Pattern[str], wanted: str
) -> str:
    value = _compact(payment, member)
    if value and not pattern.fullmatch(value):
        raise _Wrong(f'"{member}" of "epc-qr" is "{value[:20]}", not {wanted}')
    return value


def _compact(payment: Mapping[str, Any], member: str, *, is_required: bool = False) -> str:
    return _text(payment, member, 70, is_required=is_required).replace(" ", "").upper()


def _iban(payment: Mapping[str, Any]) -> str:
    iban = _compact(payment, "iban", is_required=True)
    if not _IBAN.fullmatch(iban):
        raise _Wrong(f'"iban" of "epc-qr" is not an IBAN: "{_masked(iban)}"')
    if not _passes_mod_97(iban):
        raise _Wrong(f'"iban" of "epc-qr" has wrong check digits: "{_masked(iban)}"')
    return iban


def _creditor_reference(payment: Mapping[str, Any]) -> str:
    wanted = "a creditor reference that starts with RF (ISO 11649)"
    reference = _matching(payment, "reference", _CREDITOR_REFERENCE, wanted)
    if reference and not _passes_mod_97(reference):
        raise _Wrong(f'"reference" of "epc-qr" has wrong check digits: "{reference}"')
    return reference


def _amount(payment: Mapping[str, Any]) -> str:
    currency = _text(payment, "currency", 70)
    if currency not in ("", "EUR"):
        raise _Wrong(f'"currency" of "epc-qr" is "{currency[:20]}"; only EUR can be paid')
    text = _text(payment, "amount", 40)
    if not text:
        return ""  # The payer fills it in; version 2.1 makes the amount optional.
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise _Wrong(f'"amount" of "epc-qr" is "{text[:20]}", not a number') from None
    if not amount.is_finite() or not Decimal("0.01") <= amount <= MAX_AMOUNT:
        raise _Wrong(f'"amount" of "epc-qr" is {text}, it must be from 0.01 to {MAX_AMOUNT:f}')
    if amount != round(amount, 2):
        raise _Wrong(f'"amount" of "epc-qr" is {text}, it may have two decimals; use round(2)')
    return f"EUR{amount:.2f}"


def _passes_mod_97(code: str) -> bool:
    """Check the digits of an IBAN or creditor reference (ISO 7064, mod 97-10)."""
    return int("".join(str(int(char, 36)) for char in code[4:] + code[:4])) % 97 == 1


def _masked(iban: str) -> str:
    return f"{iban[:4]}…{iban[-2:]}"
