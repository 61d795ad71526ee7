"""The symbologies: every type of bar code, with what it encodes and how its symbol is drawn.

The vocabulary takes the types of the `barcode` element from here, in this order: a new bar code is an
entry of `SYMBOLOGIES`, with a reader of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, Final, NamedTuple

from workers.engine.barcodes import legal_codes, national_codes, postal, values
from workers.engine.barcodes.payments import write_sepa_payment
from workers.engine.barcodes.swiss_qr import write_swiss_payment

QR_LEVELS: Final = ("L", "M", "Q", "H")


@dataclass(frozen=True, slots=True, eq=False)
class BarcodeSpec:
    """A symbol. `value` is text, or a mapping for payment codes; layout checks and encodes it."""

    symbology: str
    value: str | Mapping[str, object]
    level: str = "M"
    has_quiet_zone: bool = True
    columns: int | None = None
    correction: int | None = None
    add_on: str = ""
    has_escapes: bool = False
    dpi: int | None = None  # of the printer whose dots the modules are whole numbers of

    @property
    def key(self) -> tuple[Any, ...]:
        """All that it states: bar codes of one key have the same symbol."""
        return tuple(getattr(self, each.name) for each in fields(BarcodeSpec))


_Reader = Callable[[str], values.BarcodeValue]


class SymbolShape(Enum):
    """The arrangement of the modules of a symbol."""

    BARS = "bars of any height"
    STACK = "rows of bars, each of a fixed height"
    MATRIX = "square modules"
    HEXAGONS = "hexagons around a bull's eye"
    STATES = "bars of four heights and positions"


class PaymentFormat(NamedTuple):
    """The payload of a payment code: its writer, and the members it needs for messages.

    A standard may prescribe the version (size) of the QR code, a declared character set, and the least and
    greatest side in millimetres, without the quiet zone.
    """

    write: Callable[[Mapping[str, object]], bytes]
    members: str
    version: int | None = None
    charset: str | None = None
    sides: tuple[float, float] | None = None


class ColumnLimits(NamedTuple):
    """The modules of each column and of start and stop patterns, and the greatest number of columns."""

    per_column: int
    fixed: int
    most: int


# Of square modules: two dots of a printer of 203 dpi, the least for DataMatrix in GS1 General
# Specifications, 5.12.3.
_LEAST: Final = 0.25
_LEAST_EAN: Final = 0.249  # 75 % of the nominal size, for printers of labels
_LEAST_SMALL: Final = 0.17  # of small packs of medicines; PDF417 (ISO/IEC 15438)
_LEAST_LINEAR: Final = 0.19  # 7.5 mil


class Symbology(NamedTuple):
    """One type of bar code. Bars are `height` modules high; `quiet` is in modules on each side.

    `format` names a format of the library zxing-cpp, empty for one that it has not. `levels` are the levels of error correction by
    letter (QR codes), `corrections` the lowest and highest by number. `least` is the narrowest module that
    scanners are required to read, in millimetres.
    """

    format: str
    read: _Reader
    shape: SymbolShape
    quiet: int
    height: int = 0
    is_gs1: bool = False
    is_latin: bool = False  # encodes Latin-1 without a declared character set
    levels: tuple[str, ...] = ()
    corrections: tuple[int, int] | None = None
    columns: ColumnLimits | None = None
    takes_add_on: bool = False
    payment: PaymentFormat | None = None
    bars: postal.StateBars | None = None  # of a postal code of four states
    least: float = _LEAST
    has_fixed_size: bool = False

    def accepts(self, option: str) -> bool:
        """Return whether the type takes an attribute: `columns`, `correction`, `add-on` or `dpi`."""
        return {
            "columns": self.columns is not None,
            "correction": self.corrections is not None,
            "add-on": self.takes_add_on,
            "dpi": not self.has_fixed_size,
        }[option]


def _postal_code(read: _Reader, bars: postal.StateBars) -> Symbology:
    return Symbology("", read, SymbolShape.STATES, 1, bars=bars, has_fixed_size=True)


def _payment_code(*payment: Any) -> Symbology:
    return _matrix("QRCode", values.read_qr, 4, levels=QR_LEVELS, payment=PaymentFormat(*payment))


def _linear(name: str, read: _Reader, quiet: int = 10, height: int = 45, **more: Any) -> Symbology:
    more = {"least": _LEAST_LINEAR, **more}
    return Symbology(name, read, SymbolShape.BARS, quiet, height, **more)


def _matrix(name: str, read: _Reader, quiet: int = 1, **more: Any) -> Symbology:
    return Symbology(name, read, SymbolShape.MATRIX, quiet, **more)


def _databar(name: str, read: _Reader, height: int = 0, **more: Any) -> Symbology:
    shape = SymbolShape.BARS if height else SymbolShape.STACK
    return Symbology(name, read, shape, 1, height, least=_LEAST_SMALL, **more)


# Heights are those of usual symbols at 0.33 mm a module: 22.85 mm for EAN-13, about 15 mm for
# others; for GS1 DataBar those of GS1 General Specifications, 5.5.
SYMBOLOGIES: Final[Mapping[str, Symbology]] = {
    "qr": _matrix("QRCode", values.read_qr, 4, levels=QR_LEVELS),  # ISO/IEC 18004, 9.1
    "micro-qr": _matrix("MicroQRCode", values.read_micro_qr, 2, levels=("L", "M", "Q")),
    "epc-qr": _payment_code(write_sepa_payment, "name, iban and amount"),
    "swiss-qr": _payment_code(write_swiss_payment, "iban, creditor, amount and reference")._replace(has_fixed_size=True),
    "spayd-qr": _payment_code(national_codes.write_spayd, "iban and amount"),
    "hct-qr": _payment_code(national_codes.write_hct, "bic, name, iban, amount and valid_until"),
    "upi-qr": _payment_code(national_codes.write_upi, "address, name and amount"),
    "pix-qr": _payment_code(national_codes.write_pix, "key, name, city and amount"),
    "zbp-qr": _payment_code(national_codes.write_zbp, "iban, name, amount and message"),
    "upn-qr": _payment_code(national_codes.write_upn, "iban, name, town, amount and message", national_codes.VERSION, national_codes.CHARSET),
    "ksef-qr": _payment_code(legal_codes.write_ksef, "nip, date and hash"),
    "ksef-certificate-qr": _payment_code(legal_codes.write_ksef_certificate, "nip, hash, serial and signature"),
    "verifactu-qr": _payment_code(legal_codes.write_verifactu, "nif, number, date and amount", None, None, legal_codes.VERIFACTU_SIDES),
    "zatca-qr": _payment_code(legal_codes.write_zatca, "seller, vat_number, time, total and vat"),
    "datamatrix": _matrix("DataMatrix", values.text_reader(values.MAX_DATA_MATRIX)),
    "gs1-datamatrix": _matrix("DataMatrix", values.read_gs1_lines, is_gs1=True),
    # Corrections of 10, 23, 36 and 50 %.
    "aztec": _matrix("Aztec", values.text_reader(values.MAX_AZTEC), 0, corrections=(1, 4)),
    "pdf417": Symbology("PDF417", values.text_reader(values.MAX_PDF417), SymbolShape.STACK, 2, corrections=(0, 8), columns=ColumnLimits(17, 69, 30), least=_LEAST_SMALL),  # corrections by number of codewords
    "maxicode": Symbology("MaxiCode", values.text_reader(values.MAX_MAXICODE), SymbolShape.HEXAGONS, 1, is_latin=True, has_fixed_size=True),
    "code128": _linear("Code128", values.read_code128, is_latin=True),
    "gs1-128": _linear("Code128", values.read_gs1_128, is_gs1=True, least=_LEAST_SMALL),
    "code39": _linear("Code39", values.read_code39),
    "code93": _linear("Code93", values.read_code93),
    "usps-imb": _postal_code(postal.read_intelligent_mail, postal.USPS_BARS),
    "rm4scc": _postal_code(postal.read_royal_mail, postal.ROYAL_MAIL_BARS),
    "kix": _postal_code(postal.read_kix, postal.ROYAL_MAIL_BARS),
    "mailmark-4state": _postal_code(postal.read_mailmark, postal.ROYAL_MAIL_BARS),
    "mailmark-2d": _matrix("DataMatrix", postal.read_mailmark_2d, 4),
    "auspost": _postal_code(postal.read_australia, postal.AUSTRALIA_BARS),
    "japan-post": _postal_code(postal.read_japan, postal.JAPAN_BARS),
    "codabar": _linear("Codabar", values.read_codabar),
    "ean13": _linear("EAN13", values.digits_reader(1, 6, 6), 11, 69, takes_add_on=True, least=_LEAST_EAN),
    "ean8": _linear("EAN8", values.digits_reader(4, 4), 7, 55, least=_LEAST_EAN),
    "upca": _linear("UPCA", values.digits_reader(1, 5, 5, 1), 9, 69, takes_add_on=True, least=_LEAST_EAN),
    "upce": _linear("UPCE", values.read_upce, 9, 69, takes_add_on=True, least=_LEAST_EAN),
    "itf": _linear("ITF", values.read_itf),
    "itf14": _linear("ITF", values.digits_reader(1, 2, 5, 5, 1), least=_LEAST),
    "gs1-databar": _databar("DataBarOmni", values.read_databar, 33),
    "gs1-databar-stacked": _databar("DataBarStk", values.read_databar),
    "gs1-databar-stacked-omni": _databar("DataBarStkOmni", values.read_databar),
    "gs1-databar-limited": _databar("DataBarLtd", values.read_databar_limited, 10),
    "gs1-databar-expanded": _databar("DataBarExp", values.read_gs1, 34, is_gs1=True),
    "gs1-databar-expanded-stacked": _databar("DataBarExpStk", values.read_gs1_lines, is_gs1=True, columns=ColumnLimits(49, 4, 10)),
}  # fmt: skip
