"""Generated transactions of the statement, the same on every run."""

from __future__ import annotations

import csv
import io
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

FIRST_DAY: Final = date(2026, 7, 1)
DAYS: Final = 92

_PURCHASES: Final = (
    ("Card payment, Leeds Timber Yard", 8640),
    ("Direct debit, Northern Electric", 21375),
    ("Card payment, Canal Street Café", 1285),
    ("Standing order, workshop rent", 61500),
    ("Card payment, Abrasives Direct", 4419),
    ("Card payment, Aire Valley Fuels", 7238),
    ("Direct debit, vehicle insurance", 5890),
    ("Card payment, Brass & Fittings Co", 2365),
)
_SALES: Final = (
    ("Transfer received, Hartley Homes", 95850),
    ("Card takings, shop", 32640),
    ("Transfer received, Moor View School", 64275),
)


def statement_csv(count: int) -> bytes:
    """Return the CSV body of the statement: `count` transactions of one quarter."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["Booked on", "reference", "details", "debit", "credit"])
    for index in range(count):
        day = FIRST_DAY + timedelta(days=index * DAYS // count)
        is_sale = index % 5 == 3
        kinds = _SALES if is_sale else _PURCHASES
        details, pence = kinds[(index * 7 + index // 11) % len(kinds)]
        amount = Decimal(pence + (index * 7919) % 4999) / 100
        debit, credit = ("", amount) if is_sale else (amount, "")
        writer.writerow([day, f"NW{700000 + index * 13}", details, debit, credit])
    return out.getvalue().encode()
