"""The example of an electronic invoice."""

from __future__ import annotations

from typing import Final

EINVOICE: Final = """
<document lang="en-GB" title="Invoice {{ invoice.number }}" currency="EUR">
  <data>
    <json>{ "invoice": {
      "number": "2026-0042", "issueDate": "2026-03-02", "typeCode": "380", "currency": "EUR", "dueDate": "2026-04-01",
      "seller": { "name": "Example GmbH", "vatId": "DE123456789", "address": { "city": "Berlin", "country": "DE" } },
      "buyer": { "name": "Sample SA", "address": { "city": "Paris", "country": "FR" } },
      "lines": [ { "id": "1", "name": "Drill", "quantity": 2, "unit": "C62", "price": { "net": 89.90 }, "netAmount": 179.80,
                   "vatCategory": "S", "vatRate": 19 } ],
      "vatBreakdown": [ { "category": "S", "rate": 19, "taxable": 179.80, "vat": 34.16 } ],
      "totals": { "lines": 179.80, "withoutVat": 179.80, "vat": 34.16, "withVat": 213.96, "due": 213.96 } } }</json>
    <field name="invoice.issueDate" type="date"/>
  </data>
  <page size="A6 landscape" margin="10mm"/>
  <einvoice profile="en16931" syntax="cii" from="invoice"/>
  <flow>
    <h1 term="BT-1">Invoice {{ invoice.number }}</h1>
    <p term="BT-2">{{ invoice.issueDate | date('long') }}</p>
    <table>
      <col width="1fr"/><col text-align="end"/>
      <tr for="line in invoice.lines">
        <td term="BT-153">{{ line.name }}</td><td term="BT-131">{{ line.netAmount | currency }}</td>
      </tr>
      <tfoot>
        <tr><td>Total with VAT</td><td term="BT-112">{{ invoice.totals.withVat | currency }}</td></tr>
      </tfoot>
    </table>
  </flow>
</document>
"""
