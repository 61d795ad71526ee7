"""Rules that differ between the syntaxes of EN 16931."""

from __future__ import annotations

from typing import Final

from workers.engine.einvoices.rules.rule import BusinessRule, require_member

_IGIC: Final = "L"

CII: Final = (
    BusinessRule("BR-53", "", "taxCurrency", "The tax currency (BT-6) must be another than that of the invoice (BT-5)", lambda one, _: "taxCurrency" not in one or one["taxCurrency"] != one.get("currency")),
    *(
        BusinessRule(f"BR-AF-{number}", scope, "vatRate", "IGIC of the Canary Islands (L) must have a rate above 0", lambda one, _: one.get("vatCategory") != _IGIC or one.get("vatRate") != 0)
        for number, scope in (("05", "lines"), ("06", "allowances"), ("07", "charges"))
    ),
    BusinessRule("BT-148", "lines", "price.gross", "A discount on a price (BT-147) must have the gross price (BT-148)", lambda one, _: "discount" not in one.get("price", {}) or "gross" in one["price"]),
)  # fmt: skip


UBL: Final = (
    require_member("payment", "meansCode", "BR-49", "A payment must have a means code (BT-81)"),
)  # fmt: skip
