"""Examples of payment parts."""

from __future__ import annotations

from typing import Final

QR_BILL: Final = """
<document lang="de-CH">
  <data><json>{ "bill": { "iban": "CH44 3199 9123 0008 8901 2", "amount": 1949.75, "reference": "210000000003139471430009017",
    "creditor": { "name": "Max Muster &amp; Söhne", "street": "Musterstrasse", "number": "123",
      "postal_code": "8000", "town": "Seldwyla", "country": "CH" }, "message": "Auftrag vom 15. Juni 2026" } }</json></data>
  <page size="210mm 140mm" margin="10mm"/>
  <flow>
    <p>Bitte zahlen Sie innert 30 Tagen.</p>
    <qr-bill value="bill"/>
  </flow>
</document>
"""

PAYMENT_SLIP: Final = """
<document lang="de-DE">
  <data><json>{ "payment": { "name": "Nordwind Werkzeuge GmbH", "iban": "DE02120300000000202051", "bic": "BYLADEM1001",
    "amount": 308.66, "text": "Rechnung 2026-0042" } }</json></data>
  <page size="130mm 90mm" margin="8mm"/>
  <flow>
    <payment-slip type="sepa" value="payment"/>
  </flow>
</document>
"""
