"""What documents of other engines need: our filters through Babel, the payment code, and our fonts by name.

It imports nothing of Pressroom: each peer has an environment of its own.
"""

from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import zxingcpp
from babel.dates import format_date
from babel.numbers import format_currency, format_decimal, format_percent

LOCALE = "en_GB"


def money(value: Decimal) -> str:
    return format_currency(value, "EUR", locale=LOCALE)


def number(value: Decimal, digits: int | None = None) -> str:
    pattern = None if digits is None else "#,##0." + "0" * digits
    return format_decimal(value, pattern, locale=LOCALE)


def day(value: str, pattern: str = "d MMMM y", *, later: int = 0) -> str:
    moved = date.fromisoformat(value) + timedelta(days=later)
    return format_date(moved, pattern, locale=LOCALE)


def cents(value: Decimal) -> Decimal:
    return value.quantize(Decimal("0.01"), ROUND_HALF_UP)


def iban(value: str) -> str:
    return " ".join(value[at : at + 4] for at in range(0, len(value), 4))


FILTERS = {
    "money": money,
    "number": number,
    "day": day,
    "cents": cents,
    "percent": lambda value: format_percent(value, locale=LOCALE),
    "iban": iban,
    "decimal": Decimal,
}


def make_code(invoice: dict) -> zxingcpp.Barcode:
    """Return the payment code of an invoice (EPC069-12)."""
    net = sum(line["qty"] * Decimal(str(line["price"])) for line in invoice["lines"])
    amount = cents(net + cents(net * Decimal("0.19")))
    seller = invoice["seller"]
    content = ["BCD", "002", "1", "SCT", "", seller["name"], seller["iban"], f"EUR{amount}"]
    content = "\n".join([*content, "", "", invoice["number"]])
    return zxingcpp.create_barcode(content, zxingcpp.BarcodeFormat.QRCode, ec_level="M")


def font_faces(folder: Path) -> str:
    """Name the product's own fonts to WeasyPrint."""
    return "".join(
        f'@font-face {{ font-family: "{family}"; src: url({(folder / file).as_uri()});'
        f" font-weight: {weight}; font-style: {style} }}"
        for family, stem in (("Noto Sans", "NotoSans"), ("Noto Serif", "NotoSerif"))
        for file, weight, style in (
            (f"{stem}-Regular.ttf", 400, "normal"),
            (f"{stem}-Bold.ttf", 700, "normal"),
            (f"{stem}-Italic.ttf", 400, "italic"),
        )
    )
